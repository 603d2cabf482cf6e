import { errorCode } from "../runtime/error-code.ts";

/** Why a peer is unreachable, by error code; `peer` is its host, with the port if it is not the default. */
const WORDS: Readonly<Record<string, (peer: string, host: string) => string>> = {
  ENOTFOUND: (_peer, host) => `cannot resolve ${host}`,
  EAI_AGAIN: (_peer, host) => `cannot resolve ${host}`,
  ECONNREFUSED: (peer) => `${peer} refused the connection`,
  ECONNRESET: (peer) => `${peer} closed the connection`,
  EPIPE: (peer) => `${peer} closed the connection`,
  UND_ERR_SOCKET: (peer) => `${peer} closed the connection`,
  ETIMEDOUT: (peer) => `${peer} did not respond`,
  UND_ERR_CONNECT_TIMEOUT: (peer) => `${peer} did not respond`,
  EHOSTUNREACH: (peer) => `no route to ${peer}`,
  ENETUNREACH: (peer) => `no route to ${peer}`,
};

/** Codes of OpenSSL's certificate verification, and of the host name check. */
const CERTIFICATE = /^(?:CERT_|UNABLE_TO_(?:VERIFY|GET)_|ERR_TLS_CERT_)|SELF_SIGNED_CERT|^HOSTNAME_MISMATCH$/;

/**
 * @returns why the connection to the URL's host failed, in words that contain no more of the URL than the host;
 *   `undefined` if the error is about something else
 */
export function connectionFailure(error: unknown, { host, hostname }: URL): string | undefined {
  for (const code of codesOf(error)) {
    const words = WORDS[code];
    if (words !== undefined) return words(host, hostname);
    if (CERTIFICATE.test(code)) return `the certificate of ${host} is not trusted (${code})`;
    if (code === "EPROTO" || code.startsWith("ERR_SSL_"))
      return `the TLS handshake with ${host} failed (${code})`;
  }
  return undefined;
}

/** The codes of the error, of its causes, and of the attempts on a host with several addresses. */
function codesOf(error: unknown, depth = 0): readonly string[] {
  if (!(error instanceof Error) || depth > 5) return [];
  const own = errorCode(error) ?? [];
  const attempts: readonly unknown[] = error instanceof AggregateError ? error.errors : [];
  return [own, ...[error.cause, ...attempts].map((inner) => codesOf(inner, depth + 1))].flat();
}
