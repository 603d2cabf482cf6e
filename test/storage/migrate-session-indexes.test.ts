import { strict as assert } from "node:assert";
import { cp } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Knex } from "knex";
import { migrate } from "../../src/storage/index.ts";
import { emptyDatabase, temporaryDirectory, type TestDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { lockWaits } from "../support/lock-waits.ts";

const PRODUCT = fileURLToPath(new URL("../../migrations", import.meta.url));
const INDEXES = "0165-indexes-of-open-sessions";

describe("storage: the migration that indexes open sessions", () => {
  let database: TestDatabase;
  let folder: string;

  before(async () => {
    [database, folder] = await Promise.all([emptyDatabase(), temporaryDirectory()]);
    const filter = (path: string) => path === PRODUCT || basename(path) < INDEXES;
    await cp(PRODUCT, folder, { recursive: true, filter });
    await migrate(database.db, { folder });
    await database.db.raw(`
      insert into customers (id, name, name_key, status, metadata, allowed_return_urls, created_at, updated_at)
        values ('cus_1', 'a', 'a', 'active', '{}', '{}', now(), now());
      insert into users (id, customer_id, subject, status, profile, attributes, created_at, updated_at)
        values ('usr_1', 'cus_1', 's', 'active', '{}', '{}', now(), now())`);
    await cp(join(PRODUCT, `${INDEXES}.ts`), join(folder, `${INDEXES}.ts`));
  });
  after(() => database.close());

  /** As the previous release does. */
  const openSession = (db: Knex, id: string) =>
    db.raw(
      `insert into sessions (id, customer_id, user_id, client_id, scope, amr, ip_address, user_agent, created_at,
         last_used_at, expires_at, alive_until)
       values (?, 'cus_1', 'usr_1', 'k', 'openid', '[]', '', '', now(), now(), now(), now())`,
      [id],
    );
  const build = async () => (await migrate(database.db, { folder })).applied;
  const building = async () => {
    const [pid] = await lockWaits(database.db, { query: "create index concurrently%sessions%" });
    return pid;
  };
  const indexes = async () => {
    const { rows } = await database.db.raw<{ rows: { name: string; valid: boolean }[] }>(
      `select c.relname as name, x.indisvalid as valid from pg_index x join pg_class c on c.oid = x.indexrelid
       where c.relname in ('sessions_by_seq', 'sessions_open_of_user', 'gateway_changes_ended_sessions')
       order by c.relname`,
    );
    return rows.map(({ name, valid }) => `${name}${valid ? "" : " (invalid)"}`);
  };

  it("lets an earlier release write them meanwhile, and goes on where it was interrupted", async () => {
    const writing = await database.db.transaction();
    await openSession(writing, "ses_1");
    const interrupted = assert.rejects(build(), new RegExp(`^Error: migration ${INDEXES} failed: `));
    try {
      const pid = await eventually("a build that waits", building);
      await openSession(database.db, "ses_2");
      await database.db("sessions").where({ id: "ses_2" }).update({ ended_at: new Date() });
      await database.db.raw("select pg_terminate_backend(?)", [pid]);
      await interrupted;
    } finally {
      await writing.commit();
    }
    assert.deepEqual(await indexes(), ["sessions_by_seq (invalid)"]);
    assert.deepEqual(await build(), [INDEXES]);
    assert.deepEqual(await indexes(), [
      ...["gateway_changes_ended_sessions", "sessions_by_seq", "sessions_open_of_user"],
    ]);
  });
});
