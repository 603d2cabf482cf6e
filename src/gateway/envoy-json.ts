/** A part of an Envoy configuration: plain JSON in the spelling of Envoy's protos. */
export type EnvoyJson = Readonly<Record<string, unknown>>;

/** An `Any`: the message and its full type name. */
export function typed(type: string, message: EnvoyJson = {}): EnvoyJson {
  return { "@type": `type.googleapis.com/${type}`, ...message };
}

/** An extension: its name, and its configuration as an `Any`. */
export function extension(name: string, type: string, message: EnvoyJson = {}): EnvoyJson {
  return { name, typed_config: typed(type, message) };
}

/** Milliseconds as a proto duration. */
export function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(3)}s`;
}

export function socketAddress(address: string, port: number): EnvoyJson {
  return { socket_address: { address, port_value: port } };
}

/** RFC 6797 section 6.1; a year. */
export const HSTS_HEADER = { key: "strict-transport-security", value: "max-age=31536000" };

/** Sets a header, replacing an existing one. */
export function overwrite(header: { readonly key: string; readonly value: string }): EnvoyJson {
  return { header, append_action: "OVERWRITE_IF_EXISTS_OR_ADD" };
}

export const REQUEST_ID_HEADER = "x-request-id";
/** The id that Envoy assigns to each request; before that, the client's own `x-request-id`. */
export const REQUEST_ID = "%STREAM_ID%";
