import { Resolver } from "node:dns/promises";
import { isIP } from "node:net";
import { ApiError } from "../errors.ts";
import { isPublicAddress } from "./public-address.ts";

/** Resolves a host to its addresses. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

export interface TargetOptions {
  /** Whether private, loopback and link-local addresses, and http, are allowed. */
  readonly allowPrivate: boolean;
  /** Default: the machine's name servers. */
  readonly resolve?: Resolve;
}

/** Why a request is not sent. Its text is public: it does not tell what a name resolves to. */
export class TargetNotAllowed extends Error {
  constructor(message: string) {
    super(message);
    this.name = "TargetNotAllowed";
  }
}

/**
 * Queries both kinds of addresses. Not `getaddrinfo`: it runs in threads that an unresponsive name server would block
 * for everybody else, and it knows names local to this machine.
 */
export async function resolveHost(hostname: string): Promise<readonly string[]> {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  const [four, six] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  return [four, six].flatMap((found) => (found.status === "fulfilled" ? found.value : []));
}

/**
 * The public addresses of a host name. Others are left out, because the caller connects only to these.
 *
 * @throws TargetNotAllowed if there is none
 */
export async function publicAddresses(
  hostname: string,
  resolve: Resolve = resolveHost,
): Promise<readonly string[]> {
  const addresses = (await resolve(hostname)).filter(isPublicAddress);
  if (addresses.length === 0) throw new TargetNotAllowed("the host has no public address");
  return addresses;
}

/**
 * Checks everything that the URL alone shows.
 *
 * @throws TargetNotAllowed
 */
export function checkUrl(url: URL, { allowPrivate }: Pick<TargetOptions, "allowPrivate">): void {
  if (url.username !== "" || url.password !== "")
    throw new TargetNotAllowed("the URL must not contain a user name or password");
  if (url.protocol !== "https:" && !(allowPrivate && url.protocol === "http:"))
    throw new TargetNotAllowed(`the URL must begin with https://${allowPrivate ? " or http://" : ""}`);
  const host = hostOf(url);
  if (!allowPrivate && isIP(host) !== 0 && !isPublicAddress(host))
    throw new TargetNotAllowed("the address is not public");
}

/**
 * Checks a URL when it is registered, so that mistakes are reported at once. The actual protection is the check at each
 * connection: a name can resolve to another address a second later.
 *
 * @throws ApiError TARGET_NOT_ALLOWED, 422
 */
export async function checkTarget(url: string | URL, options: TargetOptions): Promise<void> {
  try {
    const parsed = new URL(url);
    checkUrl(parsed, options);
    const host = hostOf(parsed);
    if (!options.allowPrivate && isIP(host) === 0) await publicAddresses(host, options.resolve);
  } catch (error) {
    const message = error instanceof TargetNotAllowed ? error.message : "is not a valid URL with a host";
    throw new ApiError("TARGET_NOT_ALLOWED", { message, details: { field: "url" }, cause: error });
  }
}

/** The host as a name or address, an IPv6 address without its brackets. */
export function hostOf(url: Pick<URL, "hostname">): string {
  return url.hostname.replace(/^\[(.*)\]$/, "$1");
}
