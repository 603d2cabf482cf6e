import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { isOwnRequest } from "../../control/platform/frame/own-requests.ts";

/** Where this process reaches its API beside TLS. */
export interface OwnListener {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * A listener for requests that this process sends to itself, which is no client with a certificate, and knows its own API by
 * no name of the certificate. On the loopback interface; requests of others are answered with 404.
 */
export async function listenToItself(application: () => RequestListener | undefined): Promise<OwnListener> {
  const server = createServer((request, response) => {
    const answer = isOwnRequest(request) ? application() : undefined;
    if (answer === undefined) response.writeHead(404).end();
    else answer(request, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}
