import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A way to a PostgreSQL server that can fall silent, as a network does that drops packets, or a server that is stopped. */
export interface MutedPostgres {
  readonly url: string;
  /** From now on it takes connections and bytes, and passes none on. */
  mute(): void;
  /** New connections lead to the server again; what has become of the others, nobody says. */
  unmute(): void;
  close(): Promise<void>;
}

/** @param server - the URL of a database, on a Unix socket */
export async function mutedPostgres(server: string): Promise<MutedPostgres> {
  const target = new URL(server);
  const real = target.searchParams.get("host") ?? "";
  const port = target.searchParams.get("port") ?? "5432";
  const folder = await mkdtemp(join(tmpdir(), "muted-"));
  const sockets = new Set<Socket>();
  let isMuted = false;
  const proxy = createServer((client) => {
    sockets.add(client);
    client.on("error", () => undefined);
    if (isMuted) return;
    const upstream = connect(join(real, `.s.PGSQL.${port}`));
    sockets.add(upstream);
    upstream.on("error", () => client.destroy());
    client.pipe(upstream).pipe(client);
  });
  await new Promise<void>((resolve) => proxy.listen(join(folder, `.s.PGSQL.${port}`), resolve));
  target.searchParams.set("host", folder);
  return {
    url: target.href,
    mute() {
      isMuted = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
    unmute() {
      isMuted = false;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => proxy.close(resolve));
      await rm(folder, { recursive: true, force: true });
    },
  };
}
