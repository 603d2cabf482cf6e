import { quotedAscii } from "../../text/index.ts";
import { readHost, sameHost } from "../read-host.ts";
import type { Finder } from "./check.ts";

/**
 * RFC 9112, section 3.2: exactly one valid Host; RFC 9113, section 8.3.1: a Host next to :authority must be equal. If
 * switched off, :authority wins (after an absolute-form target).
 */
export const conflictingHost: Finder = ({ raw, host, headers: { hosts }, targetAuthority }) => {
  if (!host.valid) return `${quotedAscii(withoutUser(targetAuthority ?? raw.host))} is not a host`;
  if (hosts.length > 1) return "the header `host` is repeated";
  const others = targetAuthority === undefined ? hosts : [raw.host, ...hosts];
  for (const other of others) {
    const reading = readHost(other);
    if (!reading.valid || !sameHost(reading, host)) return "the request names two different hosts";
  }
  return undefined;
};

/** User information may be a password. */
function withoutUser(authority: string): string {
  return authority.replace(/^.*@/s, "***@");
}
