import type { TokenSources } from "../../identity/index.ts";
import type { Identity } from "../../identity/types.ts";
import type { HeaderChanges } from "../headers/identity-headers.ts";
import { handshakeKey } from "../headers/handshake-key.ts";
import { removedForPlan } from "../headers/plan-headers.ts";
import { removedForPreflight } from "../headers/preflight-headers.ts";
import { withoutCookie } from "../headers/withheld-cookie.ts";
import { otherProtocols, withheldHeaders } from "../headers/withheld-tokens.ts";
import type { Permit } from "../types.ts";
import type { DecodedCheck } from "./door.ts";

export type { HeaderChanges } from "../headers/identity-headers.ts";

export interface UpstreamHeadersOptions {
  readonly identityHeaders: (identity: Identity | undefined, trustedPeer: boolean) => HeaderChanges;
  /** Name of the cookie that may contain the token. */
  readonly cookie?: string;
  /** Where else it may be. */
  readonly tokens?: TokenSources;
}

/**
 * @returns a function that returns the header changes for a permit. For most requests they depend only on identity and
 *   on trust in the peer; equal pairs get the same object.
 */
export function createUpstreamHeaders({
  identityHeaders,
  cookie,
  tokens = {},
}: UpstreamHeadersOptions): (permit: Permit, check: DecodedCheck) => HeaderChanges {
  const byIdentity = {
    trusted: new WeakMap<Identity, HeaderChanges>(),
    untrusted: new WeakMap<Identity, HeaderChanges>(),
  };
  const anonymous: { trusted?: HeaderChanges; untrusted?: HeaderChanges } = {};

  const ofCaller = ({ identity, trustedPeer }: Permit): HeaderChanges => {
    const trust = trustedPeer ? "trusted" : "untrusted";
    if (identity === undefined) return (anonymous[trust] ??= identityHeaders(undefined, trustedPeer));
    let known = byIdentity[trust].get(identity);
    if (known === undefined) {
      known = identityHeaders(identity, trustedPeer);
      byIdentity[trust].set(identity, known);
    }
    return known;
  };

  return (permit, { access, forged }) => {
    const { raw } = access;
    const usual = ofCaller(permit);
    const { plan, cookieWithheld, protocolWithheld, forwarding } = permit;
    const isUsual = plan === undefined && forged === undefined && forwarding === undefined;
    const withheld = withheldHeaders(tokens, (wanted) =>
      raw.headers.filter(([name]) => name === wanted).map(([, value]) => value),
    );
    if (isUsual && cookieWithheld !== true && protocolWithheld !== true && withheld.length === 0)
      return usual;
    const set = [...usual.set, ...(forwarding?.set ?? [])];
    const remove = [...new Set([...usual.remove, ...(forwarding?.remove ?? [])])];
    const replaced = new Set([...set.map(([name]) => name), ...remove]);
    const cookies =
      cookieWithheld === true && cookie !== undefined ? withoutCookie(raw.headers, cookie) : undefined;
    return {
      set: [
        ...set,
        ...(cookies?.set ?? []),
        ...(protocolWithheld === true ? otherProtocols(raw.headers, tokens) : []),
        ...(plan?.websocket === undefined ? [] : handshakeKey(access)),
      ],
      remove: [
        ...remove,
        ...(cookies?.remove ?? []),
        ...[...(forged ?? []), ...withheld].filter((name) => !replaced.has(name)),
        ...(plan === undefined ? [] : removedForPlan(raw.headers)),
        ...(plan?.preflight === true ? removedForPreflight(raw.headers) : []).filter(
          (name) => !replaced.has(name),
        ),
      ],
    };
  };
}
