import { lstat, unlink } from "node:fs/promises";
import { connect, type Server } from "node:net";
import { resolve } from "node:path";
import { errorCode } from "../runtime/error-code.ts";

/** Where the server listens; port 0 means any free port. */
export type ListenAddress = { readonly unix: string } | { readonly host: string; readonly port: number };

/** `sun_path` holds 108 bytes on Linux and 104 elsewhere, including the final 0. A longer name would be truncated. */
const MAX_SOCKET_PATH = process.platform === "linux" ? 107 : 103;

/**
 * Listens. A Unix socket is accessible only to its user (mode 0600) and replaces one that nobody listens on any more.
 *
 * @returns the socket's absolute path and port 0, or the IP address and the port
 */
export async function listen(
  server: Server,
  where: ListenAddress,
): Promise<{ address: string; port: number }> {
  if ("unix" in where) {
    const path = resolve(where.unix);
    await clearSocketPath(path);
    // Listening on a path is complete when the call returns, so no other file is created under this mask.
    await started(server, () => {
      const mask = process.umask(0o177);
      try {
        server.listen({ path });
      } finally {
        process.umask(mask);
      }
    });
    return { address: path, port: 0 };
  }
  await started(server, () => server.listen({ host: where.host, port: where.port }));
  const bound = server.address();
  if (bound === null || typeof bound === "string") throw new Error("the server has no address");
  return { address: bound.address, port: bound.port };
}

function started(server: Server, listenNow: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.once("listening", () => {
      server.off("error", reject);
      resolve();
    });
    listenNow();
  });
}

/** Removes the socket of a killed process; refuses to remove anything else. */
async function clearSocketPath(path: string): Promise<void> {
  if (path.includes("\0")) throw new Error("a socket path must not contain NUL");
  const length = Buffer.byteLength(path);
  if (length > MAX_SOCKET_PATH) {
    throw new Error(`the socket path \`${path}\` is too long (${length} bytes; at most ${MAX_SOCKET_PATH})`);
  }
  const found = await lstat(path).catch((error: unknown) => {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  });
  if (found === undefined) return;
  if (!found.isSocket()) throw new Error(`\`${path}\` exists and is not a socket`);
  if (await answers(path)) throw new Error(`another process listens on \`${path}\``);
  await unlink(path).catch((error: unknown) => {
    if (errorCode(error) !== "ENOENT") throw error;
  });
}

/** False only when it is certain that nobody listens. */
function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ path });
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", (error) => {
      resolve(!["ECONNREFUSED", "ENOENT"].includes(errorCode(error) ?? ""));
    });
  });
}
