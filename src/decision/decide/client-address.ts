import { readNode } from "./addresses.ts";

/** Which of the addresses that proxies report are believed. */
export interface ProxyTrust {
  readonly isTrusted: (address: string) => boolean;
  /** Number of proxies in front. If absent, they are recognized by their addresses. */
  readonly hops?: number;
}

export type ClientAddress =
  | {
      readonly ok: true;
      readonly address: string;
      /** Its position in the chain; -1 if it is the peer. */
      readonly index: number;
      /** From the peer to the client. */
      readonly passed: readonly string[];
    }
  | { readonly ok: false; readonly detail: string };

/**
 * The address of the client at the other end of a chain of proxies. Each proxy appends the address that it received the
 * request from, so the chain is read from its end: what precedes the first address that is no trusted proxy was written
 * by the client.
 *
 * @param peer - address of a trusted proxy
 * @param chain - the addresses of X-Forwarded-For, or of Forwarded, in their order
 */
export function clientAddress(
  peer: string,
  chain: readonly string[],
  { isTrusted, hops }: ProxyTrust,
): ClientAddress {
  const passed = [peer];
  const found = (index: number): ClientAddress => ({
    ok: true,
    address: passed.at(-1) ?? peer,
    index,
    passed,
  });
  // the proxy's own request
  if (chain.length === 0) return found(-1);
  // with fewer entries, the first of them is not from the outermost proxy, but from whoever came in further inside
  if (hops !== undefined && chain.length < hops)
    return { ok: false, detail: `${String(chain.length)} addresses, fewer than \`gateway.trusted_hops\`` };
  const end = hops === undefined ? 0 : chain.length - hops;
  for (let index = chain.length - 1; index >= end; index -= 1) {
    const address = readNode(chain[index] ?? "");
    if (address === undefined) return { ok: false, detail: "one of the addresses is not an IP address" };
    passed.push(address);
    if (hops === undefined && !isTrusted(address)) return found(index);
  }
  return found(end);
}
