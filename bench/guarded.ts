import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startGateway } from "../test/support/gateway.ts";
import { startIssuer } from "../test/support/providers/issuer.ts";
import { NODES } from "./effort.ts";
import { proxyTo, startBenchEnvoy } from "./envoy.ts";

/** A Node.js application behind a plain Envoy proxy, and behind the whole gateway. */
export interface Guarded {
  /** Envoy alone. */
  readonly plain: string;
  readonly gateway: string;
  /** What a viewer of customer c-1 sends, for an hour. */
  readonly authorization: string;
  stop(): Promise<void>;
}

/** @param policies - text of the gateway's policy set */
export async function startGuarded(policies: string): Promise<Guarded> {
  const directory = await mkdtemp(join(tmpdir(), "gatehouse-bench-"));
  const application = fork(fileURLToPath(new URL("./application.ts", import.meta.url)));
  const [{ port }] = (await once(application, "message")) as [{ port: number }];
  const backend = `http://127.0.0.1:${port}`;
  const issuer = await startIssuer();
  const plain = await startBenchEnvoy(directory, "plain", proxyTo(backend));
  const gateway = await startGateway({
    backend,
    issuer,
    nodes: NODES,
    policies: { "default.yaml": policies },
  });
  const exp = Math.floor(Date.now() / 1000) + 3600;
  const token = await issuer.token({ role: "viewer", customer_id: "c-1", exp });
  return {
    plain: plain.url,
    gateway: gateway.url,
    authorization: `Bearer ${token}`,
    async stop() {
      await gateway.stop();
      await plain.stop();
      application.disconnect();
      await issuer.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
