/** Whether a location is an http(s) address rather than a file path. */
export function isUrl(location: string): boolean {
  return /^https?:\/\//i.test(location);
}

/**
 * Keys decide which tokens are trusted, so they must be fetched over TLS or from this machine.
 *
 * @throws TypeError if the address is neither https nor http on loopback, or contains credentials.
 */
export function secureUrl(name: string, address: string): URL {
  if (!URL.canParse(address)) throw new TypeError(`\`${name}\` is not a URL`);
  const url = new URL(address);
  if (url.protocol !== "https:" && !isLoopbackHttp(url)) {
    throw new TypeError(`\`${name}\` must be an https address, or http on loopback`);
  }
  if (url.username !== "" || url.password !== "")
    throw new TypeError(`\`${name}\` must not contain credentials`);
  return url;
}

/** Literal loopback addresses, and the name that RFC 6761 reserves for them. */
export function isLoopbackHttp(url: URL): boolean {
  return url.protocol === "http:" && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
}
