import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { ExitError } from "../../../src/cli/exit.ts";
import { rotateMasterCommand } from "../../../src/cli/rotate-master.ts";
import {
  compareEncryptionKey,
  encryptionKeyProblem,
  registerEncryptionKey,
  reportUnknownKeys,
} from "../../../src/control/encryption/key-check.ts";
import { rotateMasterKey } from "../../../src/control/encryption/rotate.ts";
import { SEALED_COLUMNS } from "../../../src/control/sealed-columns.ts";
import { createSecretBox, type SecretBox } from "../../../src/control/platform/secret-box.ts";
import { closeDatabase, openDatabase, transaction } from "../../../src/storage/index.ts";
import { silentLog } from "../../decision/support.ts";
import { startControl, type RunningControl } from "../../support/control.ts";
import { testDatabase, type TestDatabase } from "../../support/database.ts";
import { printedBy } from "../../support/printed.ts";
import { sealedByKey, sealEverywhere } from "../support/sealed.ts";
import { register } from "../support/webhooks.ts";

const CHILD = fileURLToPath(new URL("../support/rotate-child.ts", import.meta.url));
const [A, B, C] = [randomBytes(32), randomBytes(32), randomBytes(32)] as const;
const idOf = (key: Uint8Array) => createSecretBox(key).keyIds[0];
const ORIGIN = {
  actor: { kind: "system", id: "test", name: "test" },
  requestId: "req_test",
  clientIp: "127.0.0.1",
} as const;

describe("a secret box with several keys", () => {
  it("seals with the first and opens with any", () => {
    const [old, both, fresh] = [createSecretBox(A), createSecretBox(B, [A, B]), createSecretBox(B)];
    assert.deepEqual(both.keyIds, [idOf(B), idOf(A)]);
    assert.equal(both.open(old.seal("x", "p"), "p"), "x");
    assert.equal(fresh.open(both.seal("x", "p"), "p"), "x");
    assert.throws(
      () => fresh.open(old.seal("x", "p"), "p"),
      new RegExp(`encrypted with the key \`${idOf(A)}\``),
    );
    assert.throws(() => both.open(old.seal("x", "p"), "q"));
    assert.throws(() => createSecretBox(A, [randomBytes(31)]), /32 bytes/);
  });

  it("opens what names no key, and seals what versions open that know of none", () => {
    // they read two parts, and no further
    const withoutKey = (sealed: string) => sealed.split(".").slice(0, 2).join(".");
    const sealed = createSecretBox(A).seal("x", "p");
    assert.match(sealed, new RegExp(`^v1\\.[\\w-]+\\.${idOf(A)}$`));
    for (const box of [createSecretBox(A), createSecretBox(B, [C, A]), createSecretBox(A, [B])])
      assert.equal(box.open(withoutKey(sealed), "p"), "x");
    assert.throws(() => createSecretBox(B, [C]).open(withoutKey(sealed), "p"));
    for (const other of [`${sealed}.x`, sealed.replace("v1.", "v2."), `v1`, ""])
      assert.throws(() => createSecretBox(A).open(other, "p"), /malformed/, other);
    // the key that it names is the one that counts
    assert.throws(() => createSecretBox(A, [B]).open(sealed.replace(idOf(A), idOf(B)), "p"));
  });
});

describe("the encryption key", () => {
  let database: TestDatabase;
  const running: RunningControl[] = [];

  beforeEach(async () => {
    database = await testDatabase();
  });
  afterEach(async () => {
    for (const control of running.splice(0)) await control.close();
    await database.close();
  });

  /** An instance of the sandbox, which has everything that is sealed. */
  const start = async (masterKey: Uint8Array, previousKeys: readonly Uint8Array[] = []) => {
    const control = await startControl({
      database,
      masterKey,
      previousKeys,
      settings: { environment: "sandbox" },
    });
    running.push(control);
    return control;
  };
  /** As a server does it. */
  const check = async (box: SecretBox) => {
    await compareEncryptionKey({ db: database.db, box }, SEALED_COLUMNS);
    await transaction(database.db, (trx) => registerEncryptionKey(trx, box, new Date()));
  };
  const problem = (box: SecretBox) => encryptionKeyProblem(database.db, box);
  const keys = () => database.db("encryption_keys").orderBy("created_at").select("key_id", "retired_at");

  describe("at a start", () => {
    it("is remembered, and another one is refused with what to do", async () => {
      const [a, b] = [createSecretBox(A), createSecretBox(B)];
      await Promise.all([check(a), check(a)]);
      await check(a);
      assert.equal(await problem(a), undefined);
      const refused = (error: Error) => {
        for (const part of [
          idOf(A),
          idOf(B),
          "`api.encryption_key`",
          "`api.previous_encryption_keys`",
          "rotate-master",
        ])
          assert.ok(error.message.includes(part), `${error.message} names ${part}`);
        return true;
      };
      await assert.rejects(check(b), refused);
      assert.match((await problem(b)) ?? "", /encrypted with a key that this instance does not have/);
      // neither the key nor anything that opens is told
      const [row] = await database.db("encryption_keys");
      assert.ok(![A, B].some((key) => JSON.stringify(row).includes(key.toString("base64"))));
      assert.equal((await keys()).length, 1);
    });

    it("is compared with a secret that is there already, where none is remembered", async () => {
      await sealEverywhere(await start(A));
      await assert.rejects(
        check(createSecretBox(B)),
        /the configured encryption key is not the one that the secrets/,
      );
      assert.deepEqual(await keys(), []);
      await check(createSecretBox(A));
      // whatever there is of secrets, each of them alone tells
      await database.db("encryption_keys").delete();
      for (const { table } of SEALED_COLUMNS) {
        await assert.rejects(
          check(createSecretBox(B)),
          /the configured encryption key is not the one/,
          table,
        );
        await database.db.raw("truncate ?? cascade", [table]);
      }
      await check(createSecretBox(B));
    });

    it("has a successor that begins while the one before it opens: every instance must have both", async () => {
      await check(createSecretBox(A));
      const [ahead, after] = [createSecretBox(A, [B]), createSecretBox(B, [A])];
      await check(ahead);
      assert.deepEqual(await keys(), [{ key_id: idOf(A), retired_at: null }]);
      await check(after);
      assert.deepEqual(
        (await keys()).map(({ key_id }) => key_id),
        [idOf(A), idOf(B)],
      );
      for (const box of [ahead, after]) {
        await check(box);
        assert.equal(await problem(box), undefined);
      }
      for (const key of [A, B, C]) {
        await assert.rejects(check(createSecretBox(key)));
        assert.match((await problem(createSecretBox(key))) ?? "", /does not have/);
      }
    });
  });

  describe("that is replaced", () => {
    it("knows every column that is sealed", async () => {
      const { rows } = await database.db.raw<{ rows: { table: string; column: string }[] }>(
        `select c.relname as "table", a.attname as "column" from pg_description d
           join pg_class c on c.oid = d.objoid join pg_attribute a on a.attrelid = c.oid and a.attnum = d.objsubid
         where d.objsubid > 0 and d.description ~ '^sealed' and c.relnamespace = current_schema()::regnamespace`,
      );
      assert.ok(rows.length >= 7);
      for (const { table, column } of rows)
        assert.ok(
          SEALED_COLUMNS.some((sealed) => sealed.table === table && sealed.columns.includes(column)),
          `${table}.${column} is in src/control/sealed-columns.ts`,
        );
    });

    it("is found by an index of each such column", async () => {
      const { rows } = await database.db.raw<{ rows: { table: string; definition: string }[] }>(
        `select c.relname as "table", pg_get_indexdef(x.indexrelid) as definition
         from pg_index x join pg_class c on c.oid = x.indrelid where x.indisvalid and x.indexprs is not null`,
      );
      for (const { table, columns } of SEALED_COLUMNS)
        for (const column of columns)
          assert.ok(
            rows.some((row) => row.table === table && row.definition.includes(`(split_part(${column}, '.'`)),
            `${table}.${column}`,
          );
    });

    it("is looked for in every table, though one of them cannot be read, until it is told to end", async () => {
      await sealEverywhere(await start(A), 3);
      const said: object[] = [];
      const log = { ...silentLog, error: (fields: object | string) => void said.push(Object(fields)) };
      const look = (box: SecretBox, db = database.db, signal = new AbortController().signal) =>
        reportUnknownKeys({ db, box, log }, SEALED_COLUMNS, signal);
      await look(createSecretBox(B, [A]));
      assert.deepEqual(said, []);
      await look(createSecretBox(B));
      const tables = SEALED_COLUMNS.map(({ table }) => table);
      assert.deepEqual(said, [{ tables }]);
      const locking = await database.db.transaction();
      const short = openDatabase(database.url, { statementTimeoutMs: 3_500 });
      try {
        await locking.raw("lock table ?? in access exclusive mode", [SEALED_COLUMNS[0]!.table]);
        await assert.rejects(look(createSecretBox(B), short), { code: "57014" });
        assert.deepEqual(said[1], { tables: tables.slice(1) });
        await look(createSecretBox(B), short, AbortSignal.abort());
        assert.equal(said.length, 2);
      } finally {
        await locking.rollback();
        await closeDatabase(short);
      }
    });

    it("is nowhere any more, and instances that have the next one alone read everything", async () => {
      const first = await start(A, [B]);
      await check(first.context.box);
      await sealEverywhere(first, 5);
      // as versions that named no key have sealed
      await database.db.raw("update customer_idps set client_secret = left(client_secret, -17)");
      await database.db.raw("update sign_in_flows set secrets = left(secrets, -17)");
      const second = await start(B, [A]);
      await check(second.context.box);
      await sealEverywhere(second, 5);
      // each reads what the other has sealed
      const again = (control: RunningControl, key: string, id: string) =>
        control.request("POST", `/webhooks/${id}/rotate-secret`, {
          body: { overlap_seconds: 3_600 },
          headers: { "idempotency-key": key },
        });
      const hooks = await database.db("webhooks").orderBy("created_at").select("id", "customer_id");
      const answers = [];
      for (const { id, customer_id } of hooks)
        for (const control of [first, second])
          answers.push((await again(control, `rotate-${customer_id}`, id)).body.data.secret);
      assert.deepEqual([answers.length, new Set(answers).size], [4, 2]);
      const before = await sealedByKey(database.db);
      assert.ok((before[idOf(A)] ?? 0) > 10 && (before[idOf(B)] ?? 0) > 10 && (before[""] ?? 0) >= 6);
      const total = Object.values(before).reduce((a, b) => a + b);

      // beside requests, and twice at once
      const { context } = second;
      const [one, other] = await Promise.all([
        rotateMasterKey(context, ORIGIN, SEALED_COLUMNS, { batch: 3 }),
        rotateMasterKey(context, ORIGIN, SEALED_COLUMNS, { batch: 3 }),
        ...hooks.map(({ id }) => again(second, `meanwhile-${id}`, id)),
        register(second),
      ]);
      assert.deepEqual([...one.retired, ...other.retired], [idOf(A)]);
      for (const { left, unreadable } of [...one.tables, ...other.tables])
        assert.deepEqual([left, unreadable], [0, 0]);
      const after = await sealedByKey(database.db);
      assert.deepEqual(Object.keys(after), [idOf(B)]);
      assert.ok((after[idOf(B)] ?? 0) >= total);

      const alone = await start(B);
      await check(alone.context.box);
      for (const [at, { id, customer_id }] of hooks.entries())
        assert.equal((await again(alone, `rotate-${customer_id}`, id)).body.data.secret, answers[2 * at]);
      for (const { table, key, columns, purpose } of SEALED_COLUMNS)
        for (const row of await database.db(table))
          for (const column of columns)
            if (row[column] !== null)
              alone.context.box.open(
                row[column],
                purpose(Object.fromEntries(key.map((name) => [name, String(row[name])]))),
              );
      // who still seals with the old one is not ready
      assert.match((await problem(first.context.box)) ?? "", /encrypts with a key that was replaced/);
      assert.equal(await problem(alone.context.box), undefined);
      const records = await database.db("audit_records").where({ action: "encryption_key.rotated" });
      assert.ok(records.length >= 1);
      assert.ok(!JSON.stringify(records).includes("v1."));
    });

    it("survives being killed in the middle, and goes on where it was", async () => {
      const first = await start(A);
      await check(first.context.box);
      await sealEverywhere(first, 8);
      const both = createSecretBox(B, [A]);
      await check(both);
      const child = spawn(process.execPath, [CHILD, database.url, B.toString("hex"), A.toString("hex")], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      try {
        await once(child.stdout, "data");
      } finally {
        child.kill("SIGKILL");
      }
      await once(child, "exit");
      const sessions = await database.db("sessions").whereNotNull("id_token").select("id", "id_token");
      const sealedWith = (key: Uint8Array) =>
        sessions.filter(({ id_token }) => id_token.endsWith(idOf(key))).length;
      // one batch is done, and nothing of the second
      assert.deepEqual([sealedWith(A), sealedWith(B)], [2, 2]);
      for (const { id, id_token } of sessions)
        assert.equal(both.open(id_token, `session.id_token:${id}`), "id token");
      assert.deepEqual(
        (await keys()).map(({ retired_at }) => retired_at),
        [null, null],
      );

      const { context } = await start(B, [A]);
      const { tables, retired } = await rotateMasterKey(context, ORIGIN, SEALED_COLUMNS);
      assert.deepEqual(retired, [idOf(A)]);
      assert.equal(tables.find(({ table }) => table === "sessions")?.resealed, 2);
      assert.deepEqual(Object.keys(await sealedByKey(database.db)), [idOf(B)]);
    });

    it("is asked for on the machine: what is left, what was done, and what nobody can read", async () => {
      await sealEverywhere(await start(C));
      const seen = await start(A);
      await register(seen);
      const successor = await start(B, [A]);
      const run = async (control: RunningControl, ...parameters: readonly string[]) => {
        const command = rotateMasterCommand(({ readOnly }) => {
          assert.equal(readOnly, parameters.includes("--status"));
          return Promise.resolve({ context: control.context, close: () => Promise.resolve() });
        });
        let failure = "";
        const printed = await printedBy(() =>
          command
            .parseAsync(["--environment", "sandbox", ...parameters], { from: "user" })
            .catch((error: unknown) => {
              assert.ok(error instanceof ExitError, String(error));
              failure = error.message === "" ? `exit ${error.code}` : error.message;
            }),
        );
        return { printed, failure };
      };
      const status = await run(successor, "--status");
      assert.equal(status.failure, "exit 1");
      assert.deepEqual(await keys(), []);
      assert.match(status.printed, /^sandbox: 1 of signing_keys, .*2 of webhooks.* left to do\n$/);
      const partly = await run(successor);
      assert.match(
        partly.printed,
        new RegExp(`^sandbox: encrypted with the key \`${idOf(B)}\`: 1 of webhooks\n$`),
      );
      assert.match(partly.failure, /^sandbox: .* 1 of signing_keys, .*1 of webhooks/);
      assert.ok((await sealedByKey(database.db))[idOf(C)]);
      // what it encrypts with, it makes known before
      assert.deepEqual(
        (await keys()).map(({ key_id }) => key_id),
        [idOf(B)],
      );

      const all = await run(await start(B, [A, C]));
      assert.equal(all.failure, "");
      assert.match(all.printed, /1 of signing_keys/);
      const unused = new RegExp(`sandbox: nothing is encrypted with \`${idOf(A)}\`, \`${idOf(C)}\` any more`);
      assert.match(all.printed, unused);
      assert.match((await run(await start(B, [A, C]), "--status")).printed, unused);
      assert.deepEqual(await run(await start(B), "--status"), {
        printed: `sandbox: every secret is encrypted with the key \`${idOf(B)}\`\n`,
        failure: "",
      });
    });
  });
});
