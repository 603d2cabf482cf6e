import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import { experimental, ServerCredentials } from "@grpc/grpc-js";
import { every, type JobLog } from "../runtime/every.ts";

/** Paths of PEM files. */
export interface TlsFiles {
  /** The server's certificate, with the chain up to its issuer. */
  readonly certificate: string;
  readonly privateKey: string;
  /** Issuers of client certificates. If given, clients without a certificate from one of them are refused. */
  readonly clientCa?: string;
}

export interface LoadedCredentials {
  readonly credentials: ServerCredentials;
  /** Stops checking the files. */
  readonly stop: () => void;
}

interface Material {
  readonly certificate: Buffer;
  readonly privateKey: Buffer;
  readonly clientCa: Buffer | undefined;
}

const REFRESH_MS = 10_000;

/**
 * Reads the files now, and again every `refreshMs`. New connections use the new files if they are usable (complete, with a key
 * that matches the certificate); otherwise the last good ones stay in use and the failure is logged.
 *
 * @throws if the files are not usable at startup
 */
export async function loadServerCredentials(
  files: TlsFiles | undefined,
  log: JobLog,
  refreshMs = REFRESH_MS,
): Promise<LoadedCredentials> {
  if (files === undefined) return { credentials: ServerCredentials.createInsecure(), stop: () => undefined };
  const provider = new CertificateFiles(files, await readMaterial(files));
  const refreshing = every(refreshMs, () => provider.refresh(), {
    what: "reload the changed TLS files",
    log,
    level: "error",
  });
  const credentials = experimental.createCertificateProviderServerCredentials(
    provider,
    files.clientCa === undefined ? null : provider,
    files.clientCa !== undefined,
  );
  return {
    credentials,
    stop: () => {
      void refreshing.close();
    },
  };
}

/** Provides grpc-js with certificates, and with new ones when they change. */
class CertificateFiles implements experimental.CertificateProvider {
  readonly #files: TlsFiles;
  #material: Material;
  readonly #caListeners = new Set<experimental.CaCertificateUpdateListener>();
  readonly #identityListeners = new Set<experimental.IdentityCertificateUpdateListener>();

  constructor(files: TlsFiles, material: Material) {
    this.#files = files;
    this.#material = material;
  }

  async refresh(): Promise<void> {
    const material = await readMaterial(this.#files);
    if (isSame(material, this.#material)) return;
    this.#material = material;
    for (const listener of this.#caListeners) this.#tellCa(listener);
    for (const listener of this.#identityListeners) this.#tellIdentity(listener);
  }

  // grpc-js accepts the first update only after it has finished adding the listener.
  addCaCertificateListener(listener: experimental.CaCertificateUpdateListener): void {
    this.#caListeners.add(listener);
    process.nextTick(() => {
      this.#tellCa(listener);
    });
  }

  addIdentityCertificateListener(listener: experimental.IdentityCertificateUpdateListener): void {
    this.#identityListeners.add(listener);
    process.nextTick(() => {
      this.#tellIdentity(listener);
    });
  }

  removeCaCertificateListener(listener: experimental.CaCertificateUpdateListener): void {
    this.#caListeners.delete(listener);
  }

  removeIdentityCertificateListener(listener: experimental.IdentityCertificateUpdateListener): void {
    this.#identityListeners.delete(listener);
  }

  #tellCa(listener: experimental.CaCertificateUpdateListener): void {
    const { clientCa } = this.#material;
    listener(clientCa === undefined ? null : { caCertificate: clientCa });
  }

  #tellIdentity(listener: experimental.IdentityCertificateUpdateListener): void {
    const { certificate, privateKey } = this.#material;
    listener({ certificate, privateKey });
  }
}

async function readMaterial({ certificate, privateKey, clientCa }: TlsFiles): Promise<Material> {
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

function isSame(one: Material, other: Material): boolean {
  return (
    one.certificate.equals(other.certificate) &&
    one.privateKey.equals(other.privateKey) &&
    (one.clientCa === undefined || (other.clientCa !== undefined && one.clientCa.equals(other.clientCa)))
  );
}
