import { createServer } from "node:net";

/** Below those that Linux and macOS give to connections and to whoever asks for any port. */
const [FIRST, LAST] = [15_000, 32_000];

/**
 * A port on 127.0.0.1 that was free a moment ago, for programs that cannot choose one themselves, and for those that come
 * back to theirs after an end: the system gives it to nobody else meanwhile.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST));
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => {
      resolve(false);
    });
    server.listen(port, "127.0.0.1", () => {
      server.close(() => {
        resolve(true);
      });
    });
  });
}
