import assert from "node:assert/strict";
import { auditRecord } from "../../../src/decision/point/record.ts";
import { createTokenVerifier } from "../../../src/identity/index.ts";
import { createMetrics } from "../../../src/telemetry/metrics.ts";
import { accessOf, deciderOf, silentLog, snapshotOf } from "../support.ts";

const SET = `policies:
  - { name: reading, resource: "GET /api/customers/{customer_id}", condition: "true" }
  - { resource: "* /any/**", condition: "true" }
web_policies:
  - { name: pages, path: /pages/*, condition: "true" }
websocket_policies:
  - connection: { name: sockets, path: /socket/*, condition: "true" }
`;
const UPGRADE = [
  ["connection", "upgrade"],
  ["upgrade", "websocket"],
] as const;

describe("decision: what a record says of the rule", () => {
  // nobody carries a token here: it is never started
  const options = { issuer: "http://127.0.0.1:1", audience: "api" };
  const verifier = createTokenVerifier(options, { metrics: createMetrics(), log: silentLog });

  for (const [what, request, rule, name, resource] of [
    [
      "a rule of `policies`",
      { path: "/api/customers/7" },
      "policies[0]",
      "reading",
      "GET /api/customers/{customer_id}",
    ],
    [
      "one of any method, without a name",
      { path: "/any/a/b", method: "PUT" },
      "policies[1]",
      undefined,
      "* /any/**",
    ],
    ["a rule of `web_policies`", { path: "/pages/x" }, "web_policies[0]", "pages", "/pages/*"],
    [
      "a rule of connections",
      { path: "/socket/a", headers: UPGRADE },
      "websocket_policies[0].connection",
      "sockets",
      "/socket/*",
    ],
    ["no rule", { path: "/nowhere" }, null, undefined, undefined],
  ] as const) {
    it(`what it guards, as the set writes it: ${what}`, async () => {
      const access = accessOf(request);
      const decision = await deciderOf(snapshotOf(SET), { verifier })(access);
      const record = auditRecord(decision, { access, at: 0 }, 1, false);
      assert.deepEqual([record.rule, record.rule_name, record.rule_resource], [rule, name, resource]);
    });
  }
});
