import {
  createServer as createPlainServer,
  type RequestListener,
  type Server,
  type ServerOptions,
} from "node:http";
import { createServer as createTlsServer } from "node:https";
import { every, type JobLog } from "./every.ts";
import { isSameTls, readTlsFiles, type TlsFiles, type TlsMaterial } from "./tls-files.ts";

export interface FollowedTls {
  readonly files: TlsFiles;
  readonly log: JobLog;
  /** How often the files are reloaded; ms. Default: 10,000. */
  readonly refreshMs?: number;
}

/** A server that does not listen yet. */
export interface TlsFollowingServer {
  readonly server: Server;
  /** Reloads the files no more. The caller closes the server. */
  readonly unfollow: () => Promise<void>;
}

const REFRESH_MS = 10_000;

/**
 * An HTTP server, with TLS 1.2 or later if there are files for it. Certificates that are renewed in the same place are used by new
 * connections; files that are not usable leave the ones before in use, and are logged.
 *
 * @throws Error if the files are not usable now
 */
export async function createHttpServer(
  options: ServerOptions,
  listener: RequestListener | undefined,
  tls?: FollowedTls,
): Promise<TlsFollowingServer> {
  if (tls === undefined)
    return {
      server: withAllHeaders(createPlainServer(options, listener)),
      unfollow: () => Promise.resolve(),
    };
  const { files, log, refreshMs = REFRESH_MS } = tls;
  let material = await readTlsFiles(files);
  // a client that does not finish its handshake is as slow as one that does not finish its headers
  const handshake = options.headersTimeout !== undefined && { handshakeTimeout: options.headersTimeout };
  const server = withAllHeaders(
    createTlsServer({ ...options, ...handshake, ...contextOf(material) }, listener),
  );
  const following = every(
    refreshMs,
    async () => {
      const changed = await readTlsFiles(files);
      if (isSameTls(changed, material)) return;
      material = changed;
      server.setSecureContext(contextOf(changed));
    },
    { what: "reload the changed TLS files", log, level: "error" },
  );
  return { server, unfollow: () => following.close() };
}

/** By default, Node.js drops headers beyond a number: what is checked would not be all that a proxy in front has read. */
function withAllHeaders<S extends Server>(server: S): S {
  server.maxHeadersCount = 0;
  return server;
}

function contextOf({ certificate, privateKey, clientCa }: TlsMaterial) {
  const own = { cert: certificate, key: privateKey, minVersion: "TLSv1.2" as const };
  return clientCa === undefined ? own : { ...own, ca: clientCa, requestCert: true, rejectUnauthorized: true };
}
