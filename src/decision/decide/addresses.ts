import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

const MAPPED = "::ffff:";
/** RFC 4291, section 2.5.5.1: deprecated, and another address than the IPv4 address that ipaddr.js reads in it. */
const COMPATIBLE = /^::\d+\./;

/**
 * @returns an IP address in its usual text, an IPv4 address in IPv6 form as IPv4; `undefined` if the text is not
 *   exactly one address
 */
export function readAddress(text: string): string | undefined {
  // not ipaddr, which also accepts `7` and `0x7f.1` as addresses; a zone belongs to one machine only
  return isIP(text) === 0 || text.includes("%") || COMPATIBLE.test(text)
    ? undefined
    : ipaddr.process(text).toString();
}

/** The address of a connection's peer, as a proxy reports it; IPv4 addresses may arrive in IPv6 form. */
export function readPeer(peer: string): string {
  return peer.startsWith(MAPPED) ? (readAddress(peer) ?? peer) : peer;
}

/** RFC 7239, section 6, and what proxies write into X-Forwarded-For: an address, possibly in brackets or with a port. */
const NODE = /^(?:\[([0-9a-f:.]+)\]|([0-9.]+))(?::[0-9]{1,5})?$/i;

/** @returns the address of a node in a list of proxies; `undefined` for `unknown` and the like */
export function readNode(text: string): string | undefined {
  const [, bracketed, plain] = NODE.exec(text) ?? [];
  return readAddress(bracketed ?? plain ?? text);
}

/** @returns a function that tells whether an address is in one of the networks */
export function createNetworks(cidrs: readonly string[]): (address: string) => boolean {
  const ranges = cidrs.map(parseRange);
  return (text) => {
    if (ranges.length === 0 || !ipaddr.isValid(text) || COMPATIBLE.test(text)) return false;
    const address = ipaddr.process(text);
    return ranges.some(
      ([network, bits]) => network.kind() === address.kind() && address.match(network, bits),
    );
  };
}

function parseRange(text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  if (text.includes("/")) return ipaddr.parseCIDR(text);
  const address = ipaddr.process(text);
  return [address, address.kind() === "ipv4" ? 32 : 128];
}

/** An IPv6 client may use any address of its /64 (RFC 4291, section 2.5.1), so these count as one. */
export function networkOf(address: string): string {
  if (!address.includes(":") || address.includes(".")) return address;
  const [head = "", tail] = address.split("::");
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => "0");
  const groups = tail === undefined ? before : [...before, ...zeros, ...after];
  return groups
    .slice(0, 4)
    .map((group) => parseInt(group, 16).toString(16))
    .join(":");
}
