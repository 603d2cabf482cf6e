import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { dump } from "js-yaml";
import { loadGatewayConfig } from "../../../src/config/index.ts";
import {
  createLambdaAuthorizer,
  type LambdaAuthorizer,
} from "../../../src/processes/lambda/lambda-authorizer.ts";
import { createMetrics } from "../../../src/telemetry/metrics.ts";
import { eventOf } from "../../authorizers/aws/support/events.ts";
import {
  apiClient,
  PRODUCTION_ONLY,
  startControlPlaneProcess,
  type ControlPlaneProcess,
} from "../../support/control-plane.ts";
import { silentLog } from "../../decision/support.ts";
import { eventually } from "../../support/eventually.ts";

const policies = (path: string) =>
  `policy_set: main\nversion: v${path.length}\npolicies:\n  - { resource: "GET ${path}", condition: "true" }\n`;

describe("end to end: a Lambda authorizer with a control plane", function () {
  this.timeout(240_000);
  let plane: ControlPlaneProcess;
  let api: ReturnType<typeof apiClient>;
  let authorizer: LambdaAuthorizer | undefined;
  before(async () => {
    plane = await startControlPlaneProcess({ config: { api: PRODUCTION_ONLY } });
    api = apiClient(plane.url.production, await plane.createKey("production", "full_access"));
  });
  after(async () => {
    await authorizer?.close();
    await plane.stop();
  });

  const publish = async (text: string) => {
    const answer = await api("POST", "/policy-sets", { name: "main", files: [{ name: "main.yaml", text }] });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
  };

  it("decides by the published set, follows it, and sends its records", async () => {
    await publish(policies("/first"));
    const url = plane.url.production;
    const config = join(plane.directory, "function.yaml");
    await writeFile(
      config,
      dump({
        identity: { issuer: url, audience: "gatehouse" },
        policies: { source: "control_plane", policy_set: "main" },
        control_plane: { url, api_key: await plane.createKey("production", "gateway") },
        audit: { destination: "control_plane", spool_directory: join(plane.directory, "spool") },
        authz: { decision_timeout: "10s", aws: { uncached: true } },
      }),
    );
    const loaded = loadGatewayConfig({ file: config, env: {} });
    assert.ok(loaded.ok, loaded.ok ? "" : loaded.errors);
    authorizer = createLambdaAuthorizer(loaded.config, { metrics: createMetrics(), log: silentLog });
    const { answer } = authorizer;
    await authorizer.start();
    const effectOf = async (target: string) => {
      const given = await answer(eventOf("rest", { target }), 20_000);
      assert.ok(given.kind === "answer", JSON.stringify(given));
      const { policyDocument } = given.document as { policyDocument: { Statement: [{ Effect: string }] } };
      return policyDocument.Statement[0].Effect;
    };
    assert.equal(await effectOf("/first"), "Allow");
    assert.equal(await effectOf("/second"), "Deny");
    await publish(policies("/second"));
    await eventually("the new set decides", async () => (await effectOf("/second")) === "Allow");
    assert.equal(await effectOf("/first"), "Deny");
    await eventually("a record of what was allowed", async () => {
      const { body } = await api("GET", "/audit/logs?kind=decision&limit=100");
      const { data } = body as { data: readonly { readonly reason: string }[] };
      return data.some(({ reason }) => reason === "CONDITION_TRUE");
    });
  });
});
