import { experimental, ServerCredentials } from "@grpc/grpc-js";
import { every, type JobLog } from "../runtime/every.ts";
import { isSameTls, readTlsFiles, type TlsFiles, type TlsMaterial } from "../runtime/tls-files.ts";

export type { TlsFiles } from "../runtime/tls-files.ts";

export interface LoadedCredentials {
  readonly credentials: ServerCredentials;
  /** Stops checking the files. */
  readonly stop: () => void;
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
  const provider = new CertificateFiles(files, await readTlsFiles(files));
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
  #material: TlsMaterial;
  readonly #caListeners = new Set<experimental.CaCertificateUpdateListener>();
  readonly #identityListeners = new Set<experimental.IdentityCertificateUpdateListener>();

  constructor(files: TlsFiles, material: TlsMaterial) {
    this.#files = files;
    this.#material = material;
  }

  async refresh(): Promise<void> {
    const material = await readTlsFiles(this.#files);
    if (isSameTls(material, this.#material)) return;
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
