import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createKeyring } from "../../../src/control/sign-in/issuer/keyring.ts";
import { createPolicySetCompiler } from "../../../src/control/resources/policy-sets/compiler.ts";
import { prepareReset, reset } from "../../../src/control/sandbox/reset.ts";
import { bearer, makeKey, makeOwner, OPERATOR, send } from "../../support/guarded-control.ts";
import { assertRollupsExact } from "../support/gateway-records.ts";
import type { Answered } from "../../support/control.ts";
import { stateAnswer } from "../../../src/protocol/index.ts";
import { AppliedState } from "../../../src/sync/synced-state.ts";
import { createVisitor, startSandbox, type Sandbox } from "../support/sandbox.ts";
import { assertShowsEverything, names, reader, SEED } from "../support/sandbox-content.ts";

/** On a busy machine, a reset may wait for others for too long, and is asked to come again. */
async function inTheEnd(reset: () => Promise<Answered>): Promise<Answered> {
  for (;;) {
    const answer = await reset();
    if (answer.status !== 503) return answer;
    await sleep(Number(answer.headers.get("retry-after")) * 1_000);
  }
}

describe("a fresh sandbox", () => {
  let sandbox: Sandbox;
  before(async () => {
    sandbox = await startSandbox({ seed: SEED });
  });
  after(() => sandbox.close());

  const get = (path: string) => reader(sandbox)(path);

  it("shows something of everything", () => assertShowsEverything(sandbox));

  it("lets the demo's people sign in at once", async () => {
    const [acme] = (await get("/customers?external_id=acme")).data;
    const answer = await sandbox.post("/auth/authorize", {
      ...{ customer_id: acme.id, return_url: acme.allowed_return_urls[0] },
      login_hint: "ada.okafor@example.com",
    });
    const seen = await createVisitor().go(answer.body.data.authorization_url, sandbox.url);
    const code = new URL(String(seen.location)).searchParams.get("code");
    const { user } = (await sandbox.post("/auth/token", { code })).body.data;
    assert.deepEqual([user.role, user.employee_id, user.account], ["admin", "u-1", "c-1"]);
    assert.deepEqual(user.assigned_customers, ["c-1", "c-2", "c-3", "c-4", "c-5", "c-6"]);
  });

  it("is fresh again after a reset, however often and by however many", async () => {
    const owner = await makeOwner(sandbox);
    const before = await get("/customers?limit=100");
    const customer = await sandbox.customer({ name: "To be gone" });
    await sandbox.person(customer);
    const [acme] = (await get("/customers?external_id=acme")).data;
    const limited = bearer((await makeKey(sandbox, { customerId: acme.id })).secret);
    const signedIn = await sandbox.post("/sandbox/tokens", {
      customer_id: customer,
      login: "ada@acme.example",
    });
    const { session, refresh_token } = signedIn.body.data;

    const { database, masterKey } = sandbox;
    const other = await startSandbox({ database, masterKey, seed: SEED });
    try {
      // a key once more is the answer once more, not another reset
      const headers = { "idempotency-key": "reset-1" };
      const answers = await Promise.all([
        inTheEnd(() => sandbox.request("POST", "/sandbox/reset", { headers })),
        inTheEnd(() => other.post("/sandbox/reset")),
        inTheEnd(() => sandbox.post("/sandbox/reset")),
      ]);
      for (const { status, text, body } of answers) {
        assert.equal(status, 200, text);
        const { customers, people, policies, policy_sets, webhooks, decisions } = body.data;
        assert.deepEqual(
          { customers, people, policies, policy_sets, webhooks, decisions },
          { customers: 6, people: 19, policies: 4, policy_sets: 1, webhooks: 2, decisions: 2000 },
        );
      }
    } finally {
      await other.close();
    }
    const after = await get("/customers?limit=100");
    assert.deepEqual(names(after), names(before));
    assert.ok(after.data.every(({ id }: { id: string }) => !JSON.stringify(before).includes(id)));
    assert.equal((await sandbox.request("GET", `/customers/${customer}`)).status, 404);
    assert.equal((await sandbox.post("/auth/refresh", { refresh_token })).status, 401);
    assert.equal((await send(sandbox, "GET", "/customers", limited)).status, 401);
    assert.equal((await send(sandbox, "GET", "/dashboard/users", owner.headers)).status, 200);
    const state = (await get("/gateway/state")).data;
    const ended = state.sessions_ended.map(({ session_id: id }: { session_id: string }) => id);
    assert.ok(ended.includes(session.id), "tokens from before are refused");
    await assertRollupsExact(database.db);
    const resets = await get("/audit/logs?kind=change&action=sandbox.reset");
    assert.equal(resets.data.length, 1);
  });

  it("has gateways forget sets and rollouts that it had", async () => {
    const publish = async (name: string, version: string, resource: string) => {
      const text = `version: ${version}\npolicies: [{ resource: GET ${resource}, condition: exists(user.id) }]\n`;
      const body = { name, files: [{ name: "a.yaml", text }], activate: version === "v1" };
      assert.equal((await sandbox.post("/policy-sets", body)).status, 201);
    };
    await publish("gone", "v1", "/a");
    await publish("gone", "v2", "/b");
    await publish("default", "candidate", "/c");
    for (const [name, version] of [
      ["gone", "v2"],
      ["default", "candidate"],
    ] as const) {
      const terms = { version, mode: "enforce", percentage: 100 };
      const started = await sandbox.post(`/policy-sets/${name}/rollout`, terms);
      assert.equal(started.status, 201, started.text);
    }
    const told = async (query: string) => stateAnswer.parse((await get(`/gateway/state${query}`)).data);
    let state = AppliedState.of(await told(""));
    assert.equal(state.policySet("gone")?.rollout?.version, "v2");
    assert.equal(state.policySet("default")?.rollout?.version, "candidate");
    assert.equal((await inTheEnd(() => sandbox.post("/sandbox/reset"))).status, 200);
    const answer = await told(`?after=${encodeURIComponent(state.cursor)}`);
    state = answer.complete ? AppliedState.of(answer) : state.after(answer);
    assert.equal(state.policySet("gone"), undefined);
    assert.notEqual(state.policySet("default"), undefined);
    assert.equal(state.policySet("default")?.rollout, undefined);
    assert.equal((await told(`?after=${encodeURIComponent(state.cursor)}`)).complete, false, "once");
  });

  it("is filled with the policies that the folder holds by then; what is wrong with them is logged", async () => {
    const directory = await mkdtemp(join(tmpdir(), "gatehouse-folder-"));
    const write = (version: string) =>
      writeFile(
        join(directory, "default.yaml"),
        `version: ${version}\npolicies: [{ resource: GET /a, condition: exists(user.id) }]\n`,
      );
    const seed = { policies: { directory, policySet: "default" } };
    const logged: object[] = [];
    const log = {
      ...sandbox.context.log,
      warn: (fields: object | string) => void logged.push(Object(fields)),
    };
    const context = { ...sandbox.context, log };
    const parts = { seed, keyring: createKeyring(context), compile: createPolicySetCompiler() };
    try {
      await write("v1");
      const prepared = await prepareReset(context, parts);
      await write("v2");
      await context.units(OPERATOR, async (unit) => {
        await reset(context, parts, unit, prepared);
        // just before the commit, the key that asked for it is looked up again: nothing of it may wait for the reset
        await get("/customers?limit=1");
      });
      assert.equal((await get("/policy-sets/default")).data.active_version, "v2");
      assert.deepEqual(logged, []);
      await writeFile(join(directory, "default.yaml"), "policies: 1\n");
      assert.equal((await prepareReset(context, parts)).policySet, undefined);
      assert.match(JSON.stringify(logged), /"report":"default\.yaml:1:11: error: .* must be a list/);
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  it("is not filled again by a start, nor where somebody has removed what was there", async () => {
    await sandbox.database.db("sandbox_people").delete();
    const { database, masterKey } = sandbox;
    const other = await startSandbox({ database, masterKey, seed: SEED });
    await other.close();
    assert.deepEqual((await get("/sandbox/people")).data, []);
  });
});
