import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** Between a proxy and the gateway: what arrives at the gateway, byte by byte. */
export interface Relay {
  readonly port: number;
  /** Where the gateway listens. */
  target: number;
  /** Connections that the proxy has opened so far. */
  readonly connections: () => number;
  /** The heads of all requests since the last `forget`; bodies may be among them. */
  readonly heads: () => readonly string[];
  forget(): void;
  close(): void;
}

/** What is kept of each connection: enough for the heads of a test's requests, not for its uploads. */
const KEPT = 64 * 1024;

export async function startRelay(): Promise<Relay> {
  let connections = 0;
  let kept: { text: string }[] = [];
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (from) => {
    connections += 1;
    const to = connect({ port: relay.target, host: "127.0.0.1", allowHalfOpen: true });
    let seen: { text: string } | undefined;
    from.on("data", (chunk: Buffer) => {
      if (seen === undefined || !kept.includes(seen)) kept.push((seen = { text: "" }));
      if (seen.text.length < KEPT) seen.text += chunk.toString("latin1");
    });
    for (const [one, other] of [
      [from, to],
      [to, from],
    ] as const) {
      sockets.add(one);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const relay: Relay = {
    port: (server.address() as AddressInfo).port,
    target: 0,
    connections: () => connections,
    heads: () => kept.flatMap(({ text }) => text.split(/(?=^[A-Z]+ \S+ HTTP\/1\.1\r$)/m)).filter(Boolean),
    forget() {
      kept = [];
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
  return relay;
}
