import { errorCode } from "../runtime/error-code.ts";

/** How a peer cannot be reached, by the code of the error; `peer` is its host, with the port where it is not the default. */
const WORDS: Readonly<Record<string, (peer: string, host: string) => string>> = {
  ENOTFOUND: (_peer, host) => `cannot resolve ${host}`,
  EAI_AGAIN: (_peer, host) => `cannot resolve ${host}`,
  ECONNREFUSED: (peer) => `${peer} refuses connections`,
  ECONNRESET: (peer) => `${peer} broke off the connection`,
  EPIPE: (peer) => `${peer} broke off the connection`,
  UND_ERR_SOCKET: (peer) => `${peer} broke off the connection`,
  ETIMEDOUT: (peer) => `${peer} does not answer`,
  UND_ERR_CONNECT_TIMEOUT: (peer) => `${peer} does not answer`,
  EHOSTUNREACH: (peer) => `there is no route to ${peer}`,
  ENETUNREACH: (peer) => `there is no route to ${peer}`,
};

/** Codes of OpenSSL's verification, and of the check of names. */
const CERTIFICATE = /^(?:CERT_|UNABLE_TO_(?:VERIFY|GET)_|ERR_TLS_CERT_)|SELF_SIGNED_CERT|^HOSTNAME_MISMATCH$/;

/**
 * @returns what kept a connection to the URL's host from coming about, in words that name no more of the URL than the host;
 *   `undefined` where the error is about something else
 */
export function connectionFailure(error: unknown, { host, hostname }: URL): string | undefined {
  for (const code of codesOf(error)) {
    const words = WORDS[code];
    if (words !== undefined) return words(host, hostname);
    if (CERTIFICATE.test(code)) return `the certificate of ${host} is not accepted (${code})`;
    if (code === "EPROTO" || code.startsWith("ERR_SSL_"))
      return `${host} does not speak TLS as expected (${code})`;
  }
  return undefined;
}

/** Of the error, of its causes, and of the attempts that a host with several addresses takes. */
function codesOf(error: unknown, depth = 0): readonly string[] {
  if (!(error instanceof Error) || depth > 5) return [];
  const own = errorCode(error) ?? [];
  const attempts: readonly unknown[] = error instanceof AggregateError ? error.errors : [];
  return [own, ...[error.cause, ...attempts].map((inner) => codesOf(inner, depth + 1))].flat();
}
