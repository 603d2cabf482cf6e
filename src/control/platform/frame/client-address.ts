import { isIP } from "node:net";
import type { Express, Request } from "express";

/** An address as some proxies write it: IPv4 with a port, IPv6 in brackets with or without one. */
const WITH_PORT = /^(?:(?<ipv4>[\d.]+):\d+|\[(?<ipv6>[^\]]+)\](?::\d+)?)$/;

/** Trusts these proxies, however an `X-Forwarded-For` writes their addresses. */
export function trustProxies(application: Express, proxies: readonly string[]): void {
  application.set("trust proxy", [...proxies]);
  const isTrusted = application.get("trust proxy fn") as (address: string, hop: number) => boolean;
  application.set("trust proxy", (address: string, hop: number) => isTrusted(withoutPort(address), hop));
}

/**
 * The client's address, also behind trusted proxies, and never with a port: each connection would be another client. If
 * a proxy reports something that is not an address, it counts as if it had reported nothing: the client is the proxy.
 */
export function clientIpOf({ ips, socket }: Request): string {
  const reported = [...ips, socket.remoteAddress ?? ""].map(withoutPort);
  return (reported.find((text) => isIP(text) !== 0) ?? "").replace(/^::ffff:(?=\d+\.)/i, "");
}

function withoutPort(text: string): string {
  const { ipv4, ipv6 } = WITH_PORT.exec(text)?.groups ?? {};
  return ipv4 ?? ipv6 ?? text;
}
