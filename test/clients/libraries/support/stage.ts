import { createHash } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { Environment } from "../../../../src/control/platform/environment.ts";
import {
  signInOwner,
  startControlPlaneProcess,
  type ControlPlaneProcess,
} from "../../../support/control-plane.ts";
import { eventually } from "../../../support/eventually.ts";
import { createBrowser } from "../../../support/sign-in.ts";
import { startReceiver } from "../../../support/webhook-receiver.ts";
import { startFaultProxy, type Fault, type FaultProxy } from "./fault-proxy.ts";

/** What a program that runs cases needs to know of one environment. */
export interface StagedEnvironment {
  /** Behind the proxy that makes faults. */
  readonly url: string;
  readonly issuer: string;
  readonly keys: Readonly<Record<string, string>>;
  readonly session: { readonly cookie: string; readonly csrf_token: string };
}

/** What a program that runs cases is told. */
export interface World {
  /** Where it plans faults, waits for webhooks, and has a browser walk. */
  readonly stage: string;
  readonly receiver: string;
  readonly environments: Readonly<Record<Environment, StagedEnvironment>>;
}

/** What one program that runs cases has for itself: faults and deliveries of one are not those of another. */
export interface OpenWorld {
  readonly world: World;
  close(): Promise<void>;
}

export interface Stage {
  readonly control: ControlPlaneProcess;
  open(): Promise<OpenWorld>;
  close(): Promise<void>;
}

const ENVIRONMENTS: readonly Environment[] = ["production", "sandbox"];

/** A control plane with both environments, and an owner and keys in each. */
export async function startStage(): Promise<Stage> {
  const high = { authentication: 1_000_000, management: 1_000_000, analytics: 1_000_000 };
  const control = await startControlPlaneProcess({ config: { api: { rate_limits: high } } });
  const staged = {} as Record<Environment, Omit<StagedEnvironment, "url">>;
  for (const environment of ENVIRONMENTS) staged[environment] = await stageEnvironment(control, environment);
  return {
    control,
    open: () => openWorld(control, staged),
    close: async () => {
      await control.stop();
    },
  };
}

/** A proxy that makes faults in front of each environment, a receiver of webhooks, and a browser. */
async function openWorld(
  control: ControlPlaneProcess,
  staged: Readonly<Record<Environment, Omit<StagedEnvironment, "url">>>,
): Promise<OpenWorld> {
  const receiver = await startReceiver();
  const proxies: Record<Environment, FaultProxy> = {
    production: await startFaultProxy(control.url.production),
    sandbox: await startFaultProxy(control.url.sandbox),
  };
  const server = createServer((request, response) => {
    void answer(request)
      .catch((error: unknown) => ({ error: String(error) }))
      .then((body) =>
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body)),
      );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

  async function answer(request: IncomingMessage): Promise<unknown> {
    const asked = (await bodyOf(request)) as Record<string, unknown>;
    const proxy = proxies[asked["environment"] as Environment];
    switch (request.url) {
      case "/faults":
        proxy.plan(asked["faults"] as Fault[]);
        return {};
      case "/requests":
        return { requests: proxy.seen };
      case "/receiver": {
        receiver.received.length = 0;
        const statuses = [...((asked["statuses"] as number[] | undefined) ?? [])];
        receiver.answer = (response) => response.writeHead(statuses.shift() ?? 204).end();
        return {};
      }
      case "/deliveries": {
        const count = asked["count"] as number;
        const found = await eventually(
          "deliveries",
          () => receiver.received.length >= count && receiver.received,
          60_000,
        );
        return { deliveries: found.map(({ headers, body }) => ({ headers, body })) };
      }
      case "/digest":
        return {
          sha256: createHash("sha256")
            .update(asked["text"] as string)
            .digest("hex"),
        };
      case "/browser": {
        const arrived = await createBrowser().walk(asked["url"] as string, {
          until: asked["until"] as string,
        });
        if (arrived.kind !== "sent") return { error: `shown ${arrived.html}` };
        return { url: arrived.url.href, query: Object.fromEntries(arrived.url.searchParams) };
      }
      default:
        return { error: "unknown" };
    }
  }

  return {
    world: {
      stage: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      receiver: receiver.url,
      environments: {
        production: { ...staged.production, url: proxies.production.url },
        sandbox: { ...staged.sandbox, url: proxies.sandbox.url },
      },
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await Promise.all([...Object.values(proxies).map((proxy) => proxy.close()), receiver.close()]);
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString() || "{}");
}

/** An owner, and a key of each kind, those that are no longer good among them. */
async function stageEnvironment(
  control: ControlPlaneProcess,
  environment: Environment,
): Promise<Omit<StagedEnvironment, "url">> {
  const issuer = control.url[environment];
  const session = await signInOwner(control, environment);
  const headers = {
    "content-type": "application/json",
    cookie: session.cookie,
    "x-csrf-token": session.csrf_token,
  };
  const post = async (path: string, body: object, method = "POST") => {
    const response = await fetch(`${issuer}/v1${path}`, { method, headers, body: JSON.stringify(body) });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${text}`);
    return (JSON.parse(text) as { data: Record<string, string> }).data;
  };
  const keyOf = (scope: string, more: object = {}) =>
    post("/api-keys", { name: `cases ${scope}`, scope, ...more });
  const [full, read, gateway, revoked] = await Promise.all(
    ["full_access", "read_only", "gateway", "full_access"].map((scope) => keyOf(scope)),
  );
  const expired = await keyOf("full_access", { expires_at: new Date(Date.now() + 2_000).toISOString() });
  await post(`/api-keys/${revoked!["id"]!}`, {}, "DELETE");
  const authorization = `Bearer ${expired["key"]!}`;
  await eventually("the key's end", async () => {
    const response = await fetch(`${issuer}/v1/customers`, { headers: { authorization } });
    return response.status === 401;
  });
  const keys = { full, read, gateway, revoked, expired };
  return {
    issuer,
    session,
    keys: Object.fromEntries(Object.entries(keys).map(([name, key]) => [name, key!["key"]!])),
  };
}
