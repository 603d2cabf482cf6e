/** The content of Host or :authority. */
export interface HostReading {
  /** Lower case, without port and trailing dot. */
  readonly name: string;
  /** Empty if there is none. */
  readonly port: string;
  readonly valid: boolean;
}

/**
 * RFC 9110, section 7.2, in the narrow form that real hosts have: a name of letters, digits, `-` and `_`, an IPv4 or an
 * IPv6 address, and a port. No user information (RFC 9110, section 4.2.4), no percent-encoding, no list.
 */
const HOST = /^(?:([a-z0-9_-]+(?:\.[a-z0-9_-]+)*)\.?|(\[[0-9a-f:.]+\]))(?::([0-9]{1,5}))?$/i;
const MAX_PORT = 65_535;
const PORT_SUFFIX = /:[0-9]*$/;
const MAX_HOST = 262; // 255 octets of a name, RFC 1035 section 2.3.4, and `:65535`

/** Reads Host or :authority; an invalid one is returned unchanged. */
export function readHost(host: string): HostReading {
  const match = host.length <= MAX_HOST ? HOST.exec(host) : null;
  const [, name, address, port = ""] = match ?? [];
  const valid = name ?? address;
  if (valid !== undefined && Number(port) <= MAX_PORT) {
    return { name: valid.toLowerCase(), port, valid: true };
  }
  return { name: host.replace(PORT_SUFFIX, "").toLowerCase(), port: "", valid: false };
}

/** Whether two values name the same host. A port given in only one of them does not make them differ. */
export function sameHost(one: HostReading, other: HostReading): boolean {
  return one.name === other.name && (one.port === other.port || one.port === "" || other.port === "");
}
