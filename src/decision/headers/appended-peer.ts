import type { RawRequest } from "../../request/index.ts";

export interface AppendedPeer {
  readonly headers: RawRequest["headers"];
  /** Whether the proxy has written what it says of the connection, so that X-Forwarded-Proto may be its own word as well. */
  readonly wasAppended: boolean;
}

/**
 * A proxy that asks may have appended its peer to `X-Forwarded-For` before it asked, as Envoy does by default (`skip_xff_append`) and
 * API Gateway always. The peer is told apart from the header, and is none of those whom proxies in front have forwarded for:
 * counted among them, a trusted proxy would be taken for its client.
 *
 * @param headers - with names in lower case
 * @param peer - the address of the connection
 */
export function withoutAppendedPeer(headers: RawRequest["headers"], peer: string): AppendedPeer {
  const index = headers.findLastIndex(([name]) => name === "x-forwarded-for");
  const [name, value] = headers[index] ?? ["", ""];
  const nodes = value.split(",");
  if (peer === "" || nodes.at(-1)?.trim() !== peer) return { headers, wasAppended: false };
  // alone, it says what the connection does, and the application gets it
  if (nodes.length === 1) return { headers, wasAppended: true };
  const others = nodes.slice(0, -1).join(",");
  return { headers: headers.toSpliced(index, 1, [name, others]), wasAppended: true };
}
