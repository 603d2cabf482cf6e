import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";

/** Paths of PEM files. */
export interface TlsFiles {
  /** The server's certificate, with the chain up to its issuer. */
  readonly certificate: string;
  readonly privateKey: string;
  /** Issuers of client certificates. If given, clients without a certificate from one of them are refused. */
  readonly clientCa?: string;
}

/** What the files contain. */
export interface TlsMaterial {
  readonly certificate: Buffer;
  readonly privateKey: Buffer;
  readonly clientCa: Buffer | undefined;
}

/**
 * Reads the files.
 *
 * @throws if one is not readable, the key does not match the certificate, or the list of issuers is not usable
 */
export async function readTlsFiles({ certificate, privateKey, clientCa }: TlsFiles): Promise<TlsMaterial> {
  const [cert, key, ca] = await Promise.all([
    readFile(certificate),
    readFile(privateKey),
    clientCa === undefined ? undefined : readFile(clientCa),
  ]);
  // Throws if the two do not match.
  createSecureContext({ cert, key });
  // An unreadable list of issuers would be ignored without an error.
  if (ca !== undefined) new X509Certificate(ca);
  return { certificate: cert, privateKey: key, clientCa: ca };
}

/** Whether two readings of the files are equal. */
export function isSameTls(one: TlsMaterial, other: TlsMaterial): boolean {
  return (
    one.certificate.equals(other.certificate) &&
    one.privateKey.equals(other.privateKey) &&
    (one.clientCa === undefined || (other.clientCa !== undefined && one.clientCa.equals(other.clientCa)))
  );
}
