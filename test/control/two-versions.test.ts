import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { cp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { healthRouter } from "../../src/control/health.ts";
import { createSchemaCheck, migrate } from "../../src/storage/index.ts";
import { startControl, type RunningControl } from "../support/control.ts";
import { temporaryDirectory, testDatabase, type TestDatabase } from "../support/database.ts";

const PRODUCT = fileURLToPath(new URL("../../migrations", import.meta.url));

const migration = (sql: string, declared = "") =>
  `${declared}export async function up(trx: { raw(sql: string): Promise<unknown> }) { await trx.raw(${JSON.stringify(sql)}); }\n`;

/**
 * The version before the next one, and the next one: this program with its own migrations, and with more of them. A
 * version starts as `gatehouse control-plane` does, and serves requests beside the other.
 */
describe("two versions on one database", () => {
  let database: TestDatabase;
  const masterKey = randomBytes(32);
  const running: RunningControl[] = [];

  before(async () => {
    database = await testDatabase();
  });
  afterEach(async () => {
    for (const one of running.splice(0)) await one.close();
  });
  after(() => database.close());

  /** The folder of a version that has these migrations besides. */
  async function version(more: Readonly<Record<string, string>> = {}): Promise<string> {
    const folder = await temporaryDirectory();
    await cp(PRODUCT, folder, { recursive: true });
    for (const [name, text] of Object.entries(more)) await writeFile(join(folder, `${name}.ts`), text);
    return folder;
  }

  async function start(folder: string): Promise<RunningControl> {
    await migrate(database.db, { folder });
    const control = await startControl({
      database,
      masterKey,
      beside: (context) => [healthRouter(context, { schema: createSchemaCheck(context.db, { folder }) })],
    });
    running.push(control);
    return control;
  }

  const readyz = async ({ url }: RunningControl) => {
    const answer = await fetch(`${url}/readyz`);
    const body = (await answer.json()) as { checks: { schema: { detail: string } } };
    return [answer.status, body.checks.schema.detail] as const;
  };

  /** Makes a customer at one and changes it at the other. @returns its id */
  async function work(one: RunningControl, other: RunningControl, name: string): Promise<string> {
    const made = await one.request("POST", "/customers", {
      body: { name, allowed_return_urls: ["https://app.example.com/"] },
      headers: { "idempotency-key": `make-${name.replaceAll(" ", "-")}` },
    });
    assert.equal(made.status, 201, made.text);
    const { id } = made.body.data;
    const again = await other.request("POST", "/customers", {
      body: { name, allowed_return_urls: ["https://app.example.com/"] },
      headers: { "idempotency-key": `make-${name.replaceAll(" ", "-")}` },
    });
    assert.deepEqual([again.status, again.body.data.id], [201, id]);
    const hook = await other.request("POST", "/webhooks", {
      body: { customer_id: id, url: "http://127.0.0.1:1/", events: ["customer.updated"] },
    });
    assert.equal(hook.status, 201, hook.text);
    const changed = await other.request("PUT", `/customers/${id}`, { body: { name: `${name} Ltd` } });
    assert.equal(changed.status, 200, changed.text);
    const read = await one.request("GET", `/customers/${id}`);
    assert.deepEqual([read.status, read.body.data.name], [200, `${name} Ltd`]);
    return id as string;
  }

  const EXPAND = {
    "9001-note": migration("alter table customers add column note text not null default ''"),
  };

  it("serve side by side during a rolling deploy, and the older one alone again after it is rolled back", async () => {
    const [older, newer] = [await version(), await version(EXPAND)];
    const first = await start(older);
    await work(first, first, "Before");
    const second = await start(newer);
    const [fromOld, fromNew] = [
      await work(first, second, "Old first"),
      await work(second, first, "New first"),
    ];
    assert.deepEqual(
      [await readyz(first), await readyz(second)],
      [
        [200, "good"],
        [200, "good"],
      ],
    );
    // what the newer one writes where the older one knows nothing
    await database.db("customers").whereIn("id", [fromOld, fromNew]).update({ note: "kept" });

    for (const one of running.splice(0)) await one.close();
    const back = await start(older);
    await work(back, back, "Rolled back");
    for (const id of [fromOld, fromNew])
      assert.equal(
        (await back.request("PUT", `/customers/${id}`, { body: { name: `N ${id}` } })).status,
        200,
      );
    assert.deepEqual(await database.db("customers").whereIn("id", [fromOld, fromNew]).pluck("note"), [
      "kept",
      "kept",
    ]);
    // and forward once more
    assert.deepEqual(await readyz(await start(newer)), [200, "good"]);
  });

  it("part at the migration that the older one cannot work with: it is not ready, and does not start again", async () => {
    const older = await version();
    const newer = await version(EXPAND);
    const contracted = await version({
      ...EXPAND,
      "9002-contract": migration("create table contracted ()", 'export const compatibleFrom = "9001";\n'),
    });
    const broken = await version({
      ...EXPAND,
      "9002-contract": migration("create table contracted ()", 'export const compatibleFrom = "9001";\n'),
      "9003-break": migration("create table broken ()", "export const breaks = true;\n"),
    });
    const [first, second] = [await start(older), await start(newer)];
    await start(contracted);
    const needs = (number: string, since: string) =>
      new RegExp(`since ${since} it needs a version that knows migration ${number} or a later one`);
    const [status, detail] = await readyz(first);
    assert.equal(status, 503);
    assert.match(detail, needs("9001", "9002-contract"));
    assert.deepEqual(await readyz(second), [200, "good"]);
    await work(second, second, "Contracted");
    await assert.rejects(start(older), needs("9001", "9002-contract"));
    await start(newer);

    await start(broken);
    assert.equal((await readyz(second))[0], 503);
    await assert.rejects(start(newer), needs("9003", "9003-break"));
    await assert.rejects(start(older), needs("9003", "9003-break"));
    // nothing was done by those that were refused
    assert.equal((await database.db("schema_migrations").where("name", ">", "9000")).length, 3);
  });

  it("list the audit trail right, whatever kinds of records the newer one writes", async () => {
    const kinds = "'decision','response','connection','change','shadow','rollout','refused_call','later'";
    // on a database that no later version has changed
    await database.close();
    database = await testDatabase();
    const older = await start(await version());
    const newer = await start(
      await version({
        "9004-record-kinds": migration(
          `alter table audit_records drop constraint audit_records_kind_check;
           alter table audit_records add constraint audit_records_kind_check check (kind in (${kinds})) not valid`,
        ),
      }),
    );
    const customer = await work(newer, older, "Audited");
    const user = await older.request("POST", `/customers/${customer}/users`, { body: { subject: "ada" } });
    assert.equal(user.status, 201, user.text);
    const { id } = user.body.data as { id: string };
    const row = {
      ...{ timestamp: new Date(), customer_id: customer, user_id: id, resource: "/x", action: "GET" },
      ...{ request_id: "req", reason: "FORBIDDEN" },
      ...{ record: JSON.stringify({ actor: { kind: "user", id } }), client_ip: "" },
    };
    await database.db("audit_records").insert([
      { ...row, kind: "later", id: "of-later" },
      { ...row, kind: "refused_call", id: "refused" },
    ]);
    for (const query of ["", "&format=ndjson", `&user_id=${id}`, `&customer_id=${customer}`, "&action=GET"]) {
      const all = "kind=decision,outcome,change,shadow,rollout";
      for (const filter of ["limit=100", all]) {
        const { status, text } = await older.request("GET", `/audit/logs?${filter}${query}`);
        assert.equal(status, 200, text);
        assert.doesNotMatch(text, /of-later|"refused"/, `${filter}${query}`);
      }
    }
    for (const decision of ["of-later", "refused"]) {
      const found = await older.request("GET", `/audit/logs?decision_id=${decision}`);
      assert.deepEqual([found.status, found.body.data], [200, []]);
    }
    const exported = await older.request("GET", `/users/${id}/export`);
    assert.equal(exported.status, 200);
    assert.deepEqual((exported.body as { data: { decisions: unknown } }).data.decisions, []);
    const dashboard = await older.request("GET", "/analytics/dashboard");
    assert.equal(dashboard.status, 200, dashboard.text);
    await older.request("DELETE", `/users/${id}`);
    assert.equal((await database.db("audit_records").where({ kind: "later" })).length, 1);
  });
});
