import { createServer } from "node:net";

/** A port on 127.0.0.1 that was free a moment ago, for programs that cannot choose one themselves. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const found = server.address();
      server.close(() => {
        resolve(typeof found === "object" && found !== null ? found.port : 0);
      });
    });
  });
}
