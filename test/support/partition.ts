import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** How a network between two hosts can fail: it refuses connections, or it says nothing at all. */
export type Cut = "refused" | "silent";

/** A way to a server that can be cut, as the network between two machines can. */
export interface Network {
  /** The server's URL, this way. */
  readonly url: string;
  cut(how: Cut): void;
  /** New connections lead to the server again; nobody tells what has become of the others. */
  mend(): void;
  close(): Promise<void>;
}

export async function networkTo(server: string): Promise<Network> {
  const { hostname, port } = new URL(server);
  const sockets = new Set<Socket>();
  let state: Cut | undefined;
  const proxy = createServer((client) => {
    sockets.add(client);
    client.on("error", () => undefined);
    client.on("close", () => sockets.delete(client));
    if (state === "refused") client.resetAndDestroy();
    if (state !== undefined) return;
    const upstream = connect({ host: hostname, port: Number(port) });
    sockets.add(upstream);
    upstream.on("error", () => client.destroy());
    upstream.on("close", () => sockets.delete(upstream));
    client.pipe(upstream).pipe(client);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    cut(how) {
      state = how;
      for (const socket of sockets)
        if (how === "refused") socket.resetAndDestroy();
        else socket.unpipe().pause();
    },
    mend() {
      state = undefined;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}
