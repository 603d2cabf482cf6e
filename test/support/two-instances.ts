import { randomBytes } from "node:crypto";
import { createServer, request as sendOn, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { startEmbeddedPostgres } from "../../src/storage/index.ts";
import type { Environment } from "../../src/control/platform/environment.ts";
import { startControlPlaneProcess, type ControlPlaneProcess } from "./control-plane.ts";
import { databaseDirectory } from "./temporary-directory.ts";

/** Two control planes on the same two databases, and one address in front of them. */
export interface TwoInstances {
  readonly a: ControlPlaneProcess;
  readonly b: ControlPlaneProcess;
  /** Where clients reach production: each request goes to the other instance than the one before it. */
  readonly url: string;
  /** Which instance had each request that came to that address, `a` or `b`, by path. */
  readonly served: readonly { readonly path: string; readonly by: "a" | "b" }[];
  databaseUrl(environment: Environment): string;
  close(): Promise<void>;
}

/** Starts both at once on databases that are empty. */
export async function startTwoInstances(
  api: Readonly<Record<string, unknown>>,
  others: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {},
): Promise<TwoInstances> {
  const server = await startEmbeddedPostgres({
    dataDirectory: await databaseDirectory(),
    databases: ["production", "sandbox"],
    log: { info: () => undefined, warn: () => undefined },
    keepRunning: false,
  });
  const front = await startFront();
  const config = {
    ...others,
    api: { ...api, public_url: front.url, encryption_key: randomBytes(32).toString("base64") },
    database: { url: server.url("production"), sandbox_url: server.url("sandbox"), pool_size: 6 },
  };
  const started = await Promise.allSettled([
    startControlPlaneProcess({ config }),
    startControlPlaneProcess({ config }),
  ]);
  const [a, b] = started.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const close = async () => {
    await Promise.all([a?.stop(), b?.stop()]);
    await front.close();
    await server.close();
  };
  if (a === undefined || b === undefined) {
    await close();
    const failed = started.find((one) => one.status === "rejected");
    throw new Error("an instance did not start", { cause: failed?.reason });
  }
  front.lead({ a: a.url.production, b: b.url.production });
  return { a, b, url: front.url, served: front.served, databaseUrl: (name) => server.url(name), close };
}

/** A load balancer as simple as can be. */
async function startFront() {
  const served: { path: string; by: "a" | "b" }[] = [];
  let targets: Readonly<Record<"a" | "b", string>> | undefined;
  const server = createServer((request, response) => {
    if (targets === undefined) {
      response.writeHead(503).end();
      return;
    }
    const path = request.url ?? "/";
    const by = served.at(-1)?.by === "a" ? "b" : "a";
    served.push({ path, by });
    const { method, headers } = request;
    const onward = sendOn(
      new URL(path, targets[by]),
      { method, headers, agent: false },
      (answer: IncomingMessage) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    onward.once("error", () => response.destroy());
    request.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    served,
    lead(to: Readonly<Record<"a" | "b", string>>) {
      targets = to;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
