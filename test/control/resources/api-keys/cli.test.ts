import assert from "node:assert/strict";
import { ExitError } from "../../../../src/cli/exit.ts";
import { keysCommand, type OpenOptions } from "../../../../src/cli/keys.ts";
import type { RunningControl } from "../../../support/control.ts";
import {
  bearer,
  makeCustomer,
  makeKey,
  send,
  startGuardedControl,
} from "../../../support/guarded-control.ts";
import { printedBy } from "../../../support/printed.ts";
import { listen } from "../../../support/written.ts";

describe("gatehouse keys", () => {
  let control: RunningControl;
  let now: number;
  let opened: OpenOptions[];
  let closed: number;
  const written = listen();

  beforeEach(async () => {
    now = Date.parse("2026-03-01T12:00:00Z");
    opened = [];
    closed = 0;
    written.clear();
    control = await startGuardedControl({ clock: () => now, writers: written.writers });
  });
  afterEach(() => control.close());

  /** @returns what it prints */
  async function keys(...parameters: readonly string[]): Promise<string> {
    const command = keysCommand((options) => {
      opened.push(options);
      return Promise.resolve({
        context: control.context,
        close() {
          closed += 1;
          return Promise.resolve();
        },
      });
    });
    for (const each of [command, ...command.commands])
      each.exitOverride().configureOutput({ writeErr: () => undefined });
    try {
      return await printedBy(() => command.parseAsync(parameters, { from: "user" }));
    } finally {
      assert.equal(closed, opened.length);
    }
  }

  const create = (...more: readonly string[]) =>
    keys("create", "--environment", "production", "--scope", "read_only", "--name", "deploy", ...more);

  it("makes a key, prints it alone, and it works while the control plane runs", async () => {
    const printed = await create();
    assert.match(printed, /^gh_live_[0-9A-Za-z]{38}\n$/);
    const { status, body } = await send(control, "GET", "/probe", bearer(printed.trim()));
    assert.deepEqual([status, body.data.name, body.data.scope], [200, "deploy", "read_only"]);
    assert.deepEqual(
      written.changes.map(({ action, actor }) => [action, actor]),
      [["api_key.created", { kind: "system", id: "cli", name: "gatehouse keys" }]],
    );
    assert.deepEqual(
      written.events.map(({ type }) => type),
      ["api_key.created"],
    );
    assert.equal(opened[0]?.environment, "production");
  });

  it("limits a key to a customer and a time", async () => {
    const customer = await makeCustomer(control);
    for (const [expires, time] of [
      ["90d", "2026-05-30T12:00:00.000Z"],
      ["12h", "2026-03-02T00:00:00.000Z"],
      ["30m", "2026-03-01T12:30:00.000Z"],
      ["2027-01-01", "2027-01-01T00:00:00.000Z"],
      ["2027-01-01T06:00:00+06:00", "2027-01-01T00:00:00.000Z"],
    ] as const) {
      await create("--customer", customer, "--expires", expires);
      const [row] = await control.context.db("api_keys").orderBy("id", "desc").limit(1);
      assert.deepEqual([row.customer_id, row.expires_at.toISOString()], [customer, time]);
    }
  });

  it("prints no key when there is none, but what is wrong", async () => {
    for (const [parameters, message] of [
      [["--customer", "cus_x"], /customer does not exist/],
      [["--expires", "soon"], /expires_at/],
      [["--expires", "0d"], /expires_at must be in the future/],
      [["--expires", "2020-01-01"], /expires_at must be in the future/],
      [["--name", "a\nb"], /name must not contain control characters/],
      [["--name", ""], /name must not be empty/],
    ] as const) {
      await assert.rejects(create(...parameters), (error: unknown) => {
        assert.ok(error instanceof ExitError, String(error));
        assert.match(error.message, message);
        return true;
      });
    }
    for (const parameters of [
      ["create", "--environment", "staging", "--scope", "read_only", "--name", "n"],
      ["create", "--environment", "production", "--scope", "root", "--name", "n"],
      ["create", "--environment", "production", "--scope", "read_only"],
      ["create", "--scope", "read_only", "--name", "n"],
      ["revoke", "--environment", "production"],
      ["roll", "--environment", "production"],
    ])
      await assert.rejects(keys(...parameters), { name: "CommanderError" });
    assert.equal((await control.context.db("api_keys")).length, 0);
  });

  it("rolls a key, prints the new one alone, and both work until the overlap ends", async () => {
    const { row, secret } = await makeKey(control);
    const roll = (...more: readonly string[]) => keys("roll", "--environment", "production", row.id, ...more);
    for (const [overlap, message] of [
      ["soon", /`--overlap` must be a duration/],
      ["-1h", /`--overlap` must be a duration/],
      ["31d", /overlap Too big/],
    ] as const)
      await assert.rejects(roll(`--overlap=${overlap}`), message);
    const printed = await roll("--overlap", "12h");
    assert.match(printed, /^gh_live_[0-9A-Za-z]{38}\n$/);
    const probe = (key: string) => send(control, "GET", "/probe", bearer(key));
    for (const key of [secret, printed.trim()]) assert.equal((await probe(key)).status, 200);
    await assert.rejects(roll(), /the API key was already rolled/);
    const [line] = (await keys("list", "--environment", "production")).split("\n").slice(1);
    assert.match(line ?? "", /rolled to key_\w+ {2}ends 2026-03-02T00:00:00\.000Z$/);
    now += 12 * 3_600_000;
    assert.equal((await probe(secret)).body.error.code, "API_KEY_ROLLED");
    assert.equal((await probe(printed.trim())).status, 200);
    // and without an overlap at once
    const { row: leaked } = await makeKey(control);
    await keys("roll", "--environment", "production", leaked.id, "--overlap", "0");
    const lines = (await keys("list", "--environment", "production")).split("\n");
    assert.match(
      lines.find((text) => text.startsWith(leaked.id)) ?? "",
      /^key_\w+ {2}revoked .* {2}rolled to key_\w+ {2}ended 2026-03-02T00:00:00\.000Z$/,
    );
  });

  it("lists keys without the keys, and revokes one", async () => {
    const { row, secret } = await makeKey(control, { name: "first" });
    for (let i = 0; i < 100; i += 1) await makeKey(control, { name: `key ${i}` });
    const listed = await keys("list", "--environment", "production");
    assert.equal(listed.trim().split("\n").length, 101);
    assert.ok(listed.includes(`${row.id}  active  full_access  ...${secret.slice(-4)}`));
    assert.ok(!listed.includes(secret));

    assert.equal(await keys("revoke", "--environment", "production", row.id), "");
    const { status, body } = await send(control, "GET", "/probe", bearer(secret));
    assert.deepEqual([status, body.error.code], [401, "API_KEY_REVOKED"]);
    const lines = (await keys("list", "--environment", "production", "--json")).trim().split("\n");
    const told = lines.map((line) => JSON.parse(line)).find(({ id }) => id === row.id);
    assert.deepEqual([told.status, told.secret_hash], ["revoked", undefined]);
    await assert.rejects(
      keys("revoke", "--environment", "production", "key_x"),
      /the API key does not exist/,
    );
  });
});
