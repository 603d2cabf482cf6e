import { isIP, type Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { createNetworks } from "../decision/decide/addresses.ts";

/**
 * @param callers - addresses, networks, and names in client certificates
 * @returns a function that tells whether the peer of a connection may ask for decisions
 */
export function createCallers(callers: readonly string[]): (socket: Socket) => boolean {
  const networks = callers.filter((caller) => isIP(caller.split("/")[0] ?? "") !== 0);
  const names = new Set(callers.filter((caller) => !networks.includes(caller)).map(comparable));
  const isNear = createNetworks(networks);
  return (socket) => {
    const { remoteAddress } = socket;
    if (remoteAddress !== undefined && networks.length > 0 && isNear(remoteAddress)) return true;
    return names.size > 0 && namesOf(socket).some((name) => names.has(name));
  };
}

/** The names in a certificate that one of the configured authorities issued; none without one. */
function namesOf(socket: Socket): readonly string[] {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return [];
  const { subjectaltname = "" } = socket.getPeerCertificate();
  // values with special characters are quoted, and thus never equal to a configured name
  return subjectaltname.split(", ").flatMap((entry) => {
    const [, kind, name] = /^(DNS|URI):(.+)$/.exec(entry) ?? [];
    return kind === undefined || name === undefined ? [] : [comparable(name)];
  });
}

/** DNS names have no letter case; URIs have. */
function comparable(name: string): string {
  return name.includes("://") ? name : name.toLowerCase();
}
