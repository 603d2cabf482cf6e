import assert from "node:assert/strict";
import type { GatewayConfig } from "../../../src/config/index.ts";
import { sandboxSeed } from "../../../src/processes/control-plane/sandbox-seed.ts";
import { DEMO_POLICIES } from "../../support/demo-policies.ts";
import { assertRollupsExact } from "./gateway-records.ts";
import type { Sandbox } from "./sandbox.ts";

/** What `gatehouse up` fills a sandbox with. */
export const SEED = sandboxSeed({
  policies: { directory: DEMO_POLICIES, policy_set: "default" },
} as unknown as GatewayConfig);

/** What a request is answered with, which is 200. */
export const reader = (sandbox: Sandbox) => async (path: string) => {
  const answer = await sandbox.request("GET", path);
  assert.equal(answer.status, 200, `${path} ${answer.text}`);
  return answer.body;
};

export const names = (body: { data: { name: string }[] }) => body.data.map(({ name }) => name).sort();

/** The sandbox has something of everything that people look for in it. */
export async function assertShowsEverything(sandbox: Sandbox): Promise<void> {
  const get = reader(sandbox);
  const customers = await get("/customers?limit=100");
  assert.equal(customers.data.length, 6);
  const statuses = customers.data.map(({ status }: { status: string }) => status).sort();
  assert.deepEqual(statuses, ["active", "active", "active", "active", "archived", "suspended"]);
  const policies = await get("/policies?limit=100");
  assert.deepEqual(
    new Set(policies.data.map(({ type }: { type: string }) => type)),
    new Set(["authentication", "authorization"]),
  );
  assert.deepEqual(names(await get("/policy-sets")), ["default"]);
  assert.ok((await get("/users")).pagination.total_items >= 15);
  assert.ok((await get("/sessions?status=active")).pagination.total_items > 0);
  assert.ok((await get("/sessions?status=ended")).pagination.total_items > 0);
  const webhooks = await get("/webhooks");
  assert.deepEqual(
    webhooks.data.map(({ enabled }: { enabled: boolean }) => enabled),
    [false, false],
  );
  const people = await get("/sandbox/people?limit=100");
  assert.equal(people.pagination.total_items, 8 + 10 + 1);
  const [ada] = (await get("/sandbox/people?email=ada.okafor@example.com")).data;
  assert.equal(ada.attributes.employee_id, "u-1");
  assert.equal(ada.attributes.account, "c-1");
  for (const type of [
    "user.authenticated",
    "user.authentication_failed",
    "policy.violated",
    "session.revoked",
  ])
    assert.ok((await get(`/analytics/events?type=${type}&limit=1`)).data.length > 0, type);
  const dashboard = JSON.stringify((await get("/analytics/dashboard")).data);
  assert.match(dashboard, /CONDITION_FALSE/);
  assert.match(dashboard, /"IDENTITY_REQUIRED"/);
  assert.ok((await get("/audit/logs?decision=DENY")).data.length > 0);
  assert.ok((await get("/audit/logs?kind=change")).data.length > 0);
  await assertRollupsExact(sandbox.database.db);
}
