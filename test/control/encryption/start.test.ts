import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { loadGatewayConfig } from "../../../src/config/index.ts";
import { openEnvironment } from "../../../src/processes/control-plane/open-environment.ts";
import { startControlPlane } from "../../../src/processes/control-plane/start.ts";
import {
  compareEncryptionKey,
  encryptionKeyProblem,
  registerEncryptionKey,
} from "../../../src/control/encryption/key-check.ts";
import { createSecretBox, type SecretBox } from "../../../src/control/platform/secret-box.ts";
import { transaction } from "../../../src/storage/index.ts";
import { silentLog } from "../../decision/support.ts";
import { temporaryDirectory, testDatabase, type TestDatabase } from "../../support/database.ts";
import { databaseDirectory } from "../../support/temporary-directory.ts";
import { eventually } from "../../support/eventually.ts";
import { SEALED_COLUMNS } from "../../../src/control/sealed-columns.ts";

const [A, B] = [randomBytes(32), randomBytes(32)] as const;
const idOf = (key: Uint8Array) => createSecretBox(key).keyIds[0];

describe("the encryption key that is made known", () => {
  let database: TestDatabase;

  beforeEach(async () => {
    database = await testDatabase();
  });
  afterEach(() => database.close());

  const register = (box: SecretBox) =>
    transaction(database.db, (trx) => registerEncryptionKey(trx, box, new Date()));
  const problem = (box: SecretBox) => encryptionKeyProblem(database.db, box);
  const keys = () => database.db("encryption_keys").orderBy("created_at").select("key_id", "retired_at");
  const planeConfig = async (key: Uint8Array, previous: readonly Uint8Array[] = []) => {
    const overrides = {
      "api.port": 0,
      "api.environments": ["production"],
      "api.data_directory": await temporaryDirectory(),
      "api.encryption_key": Buffer.from(key).toString("base64"),
      "api.previous_encryption_keys": previous.map((other) => Buffer.from(other).toString("base64")),
      "database.url": database.url,
    };
    const loaded = loadGatewayConfig({ overrides, env: {} });
    assert.ok(loaded.ok, loaded.ok ? "" : loaded.errors);
    return loaded.config;
  };

  it("is one of two that are there first at once, whichever comes second is refused", async () => {
    const boxes = [createSecretBox(A), createSecretBox(B)] as const;
    // both have found nothing, and one registers while the other is about to
    await Promise.all(boxes.map((box) => compareEncryptionKey({ db: database.db, box }, SEALED_COLUMNS)));
    const first = await database.db.transaction();
    await registerEncryptionKey(first, boxes[0], new Date());
    const second = register(boxes[1]).then(() => "registered", String);
    try {
      await eventually("the second waits for the first", async () => {
        const { rows } = await database.db.raw<{ rows: object[] }>(
          "select from pg_locks where relation = 'encryption_keys'::regclass and not granted",
        );
        return rows.length > 0;
      });
      await first.commit();
    } finally {
      if (!first.isCompleted()) await first.rollback();
    }
    assert.match(await second, new RegExp(`is not the one .* they need the key with the id \`${idOf(A)}\``));
    assert.deepEqual(await keys(), [{ key_id: idOf(A), retired_at: null }]);
  });

  it("is compared by commands, and not made known", async () => {
    const opened = async (key: Uint8Array, previous: readonly Uint8Array[], openedFor?: "look") => {
      const environment = await openEnvironment(
        ...([await planeConfig(key, previous), "production", silentLog] as const),
        openedFor,
      );
      await environment.close();
    };
    // not even the first one
    for (const openedFor of [undefined, "look"] as const) await opened(A, [], openedFor);
    assert.deepEqual(await keys(), []);
    await register(createSecretBox(A));
    for (const openedFor of [undefined, "look"] as const) {
      await opened(B, [A], openedFor);
      await assert.rejects(
        opened(B, [], openedFor),
        /^Error: production: the configured encryption key is not the one/,
      );
    }
    assert.deepEqual(await keys(), [{ key_id: idOf(A), retired_at: null }]);
    assert.equal(await problem(createSecretBox(A)), undefined, "instances without the next one stay ready");
    // what only looks migrates nothing
    const last = await database.db("schema_migrations").orderBy("name", "desc").first();
    await database.db("schema_migrations").where({ name: last.name }).delete();
    await assert.rejects(
      opened(A, [], "look"),
      /^Error: production: the database lacks 1 migration of .* migrate/,
    );
    assert.equal(await database.db("schema_migrations").where({ name: last.name }).first(), undefined);
    await database.db("schema_migrations").insert(last);
  });

  describe("with the embedded database", () => {
    const embedded = (dataDirectory: string) => {
      const loaded = loadGatewayConfig({ overrides: { "api.data_directory": dataDirectory }, env: {} });
      assert.ok(loaded.ok);
      return (openedFor: "look" | "command") =>
        openEnvironment(loaded.config, "production", silentLog, openedFor);
    };

    it("is looked at while the database does not run, which is stopped again", async () => {
      const directory = await databaseDirectory();
      const open = embedded(directory);
      await (await open("command")).close();
      const pidFile = join(directory, "postgres", "cluster", "data", "postmaster.pid");
      assert.ok(!existsSync(pidFile));
      const opened = await open("look");
      try {
        assert.ok(existsSync(pidFile));
        assert.deepEqual(await opened.context.db("encryption_keys"), []);
        // beside a process that uses it, it goes on
        await (await open("look")).close();
        assert.ok(existsSync(pidFile));
      } finally {
        await opened.close();
      }
      assert.ok(!existsSync(pidFile));
    });

    it("is not made by who only looks, nor is the database", async () => {
      const directory = await databaseDirectory();
      const open = embedded(directory);
      await assert.rejects(open("look"), /^Error: no encryption key in `.*`: pass the data directory/);
      await writeFile(join(directory, "encryption.key"), `${Buffer.from(A).toString("base64")}\n`);
      await assert.rejects(open("look"), /^Error: no embedded database in .*postgres`: pass/);
      assert.deepEqual(await readdir(directory), ["encryption.key"]);
    });
  });

  it("stops the whole control plane, which says so", async () => {
    const plane = async (...configured: Parameters<typeof planeConfig>) =>
      startControlPlane(await planeConfig(...configured), { log: silentLog });
    await (await plane(A)).close();
    await assert.rejects(
      plane(B),
      /^Error: production: the configured encryption key is not the one that the secrets/,
    );
    const started = await plane(B, [A]);
    try {
      const readyz = async () => (await fetch(`${started.environments[0]?.url ?? ""}/readyz`)).json();
      const good = { ok: true, detail: "good" };
      const database_ok = { ok: true, detail: "it responds" };
      assert.deepEqual(await readyz(), {
        status: "ok",
        checks: { database: database_ok, encryption_key: good, schema: good },
      });
      // over a connection that nothing else uses
      const own = { application_name: "gatehouse production readiness" };
      assert.equal(
        (await database.db("pg_stat_activity").whereRaw("datname = current_database()").where(own)).length,
        1,
      );
      await database
        .db("encryption_keys")
        .where({ key_id: idOf(B) })
        .update({ retired_at: new Date() });
      assert.deepEqual(await readyz(), {
        status: "unavailable",
        checks: {
          database: database_ok,
          encryption_key: {
            ok: false,
            detail: "this instance encrypts with a key that was replaced",
          },
          schema: good,
        },
      });
    } finally {
      await started.close();
    }
  });

  it("is said to be missing where something is sealed with another one after all", async () => {
    const errors: unknown[] = [];
    const log = { ...silentLog, error: (fields: unknown) => errors.push(fields) };
    const start = async (
      configured: Parameters<typeof planeConfig>,
      meanwhile = async () => Promise.resolve(),
    ) => {
      const plane = await startControlPlane(await planeConfig(...configured), { log });
      await meanwhile();
      // makes the first key that tokens are signed with, which is sealed
      await fetch(`${plane.environments[0]?.url ?? ""}/.well-known/jwks.json`);
      await plane.close();
    };
    await start([A]);
    await start([B, [A]]);
    // as if nothing were sealed with it any more, and then an instance that still has it went on
    await database
      .db("encryption_keys")
      .where({ key_id: idOf(A) })
      .update({ retired_at: new Date() });
    assert.deepEqual(errors, []);
    await start([B], async () => {
      await eventually("it is said", () => errors.length > 0);
    });
    assert.deepEqual(errors, [{ tables: ["signing_keys"] }]);
  });
});
