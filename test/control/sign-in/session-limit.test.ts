import assert from "node:assert/strict";
import { startMaintenance } from "../../../src/control/maintenance.ts";
import { createKeyring } from "../../../src/control/sign-in/issuer/keyring.ts";
import { eventually } from "../../support/eventually.ts";
import { told, startSignInBench, type SignInBench, type Tokens } from "../support/sign-in.ts";

const LIMIT = 3;

describe("sign-in: the limit of open sessions per user", () => {
  let bench: SignInBench;
  let customerId: string;
  let skip = 0;

  before(async () => {
    bench = await startSignInBench({
      settings: { sessionsPerUser: LIMIT },
      clock: () => Date.now() + skip,
    });
    for (const login of ["alice", "bob"]) bench.provider.users.set(login, { claims: { name: login } });
  });
  after(() => bench.close());
  beforeEach(async () => {
    customerId = await bench.customer();
  });

  async function signIn(login = "alice"): Promise<Tokens> {
    skip += 1_000;
    return bench.signIn(customerId, { login });
  }
  const sessionsOf = async ({ user }: Tokens) => {
    const { db } = bench.context;
    const open = db("sessions").where({ user_id: user.id }).whereNull("ended_at");
    return open.orderBy(["created_at", "id"]).pluck<string[]>("id");
  };

  it("ends the oldest one, which is announced and refused like any that ends", async () => {
    const first = await signIn();
    const others = [await signIn(), await signIn()];
    const bob = await signIn("bob");
    bench.forget();
    others.push(await signIn());
    assert.deepEqual(
      await sessionsOf(first),
      others.map(({ session }) => session.id),
    );
    const { data } = (await bench.request("GET", `/sessions/${first.session.id}`)).body;
    assert.deepEqual([data.status, data.end_reason], ["ended", "session_limit"]);
    assert.deepEqual(told(await bench.refresh(first.refresh_token)), [401, "SESSION_ENDED"]);
    const revoked = bench.events.filter(({ type }) => type === "session.revoked");
    assert.deepEqual(
      revoked.map((event) => [event.userId, event.data.session?.id, event.data.reason]),
      [[first.user.id, first.session.id, "session_limit"]],
    );
    assert.deepEqual(
      bench.changes
        .filter(({ action }) => action === "user.sessions_ended")
        .map(({ target, after }) => [target.id, after]),
      [[first.user.id, { reason: "session_limit", ended: 1 }]],
    );
    const refused = bench.told.filter(({ type }) => type === "session_ended");
    assert.deepEqual(
      refused.map((change) => change.type === "session_ended" && change.session_id),
      [first.session.id],
    );
    for (const { refresh_token } of [...others, bob])
      assert.equal((await bench.refresh(refresh_token)).status, 200);
  });

  it("leaves a sign-in whose code is not exchanged yet, although that expires first", async () => {
    for (let n = 0; n < LIMIT; n += 1) await signIn();
    const waiting = await bench.arrive(customerId, { login: "alice" });
    for (let n = 1; n < LIMIT; n += 1) await signIn();
    assert.equal((await bench.exchange(waiting)).status, 200);
  });

  it("counts sessions that have just expired, which end with the user, too", async () => {
    const tokens = await signIn();
    for (let n = 0; n < LIMIT; n += 1) {
      await bench.arrive(customerId, { login: "alice" });
      skip += 70_000;
    }
    const rest = await sessionsOf(tokens);
    assert.equal(rest.length, LIMIT);
    // and they end before the one that is in use
    assert.ok(rest.includes(tokens.session.id));
    assert.equal((await bench.refresh(tokens.refresh_token)).status, 200);
  });

  it("is kept to by sign-ins at the same time", async () => {
    const tokens = await signIn();
    await Promise.all(Array.from({ length: LIMIT + 2 }, () => bench.arrive(customerId, { login: "alice" })));
    assert.equal((await sessionsOf(tokens)).length, LIMIT);
  });

  it("applies to sessions from before there was one, too, when instances start", async () => {
    const bob = [await signIn("bob"), await signIn("bob")];
    const alice = await signIn();
    const { db } = bench.context;
    const columns = Object.keys((await db("sessions").where({ id: alice.session.id }).first()) as object);
    const same = columns.filter((name) => !["id", "seq", "created_at"].includes(name));
    const list = same.map((name) => `"${name}"`).join(", ");
    await db.raw(
      `insert into sessions (id, created_at, ${list})
       select 'ses_' || lpad(n::text, 3, '0') || right(id, 10), created_at + n * interval '1 millisecond', ${list}
       from sessions, generate_series(1, 450) as n where id = ?`,
      [alice.session.id],
    );
    bench.forget();
    const { context } = bench;
    const instances = [1, 2].map(() => startMaintenance(context, createKeyring(context)));
    await eventually("the end", async () => (await sessionsOf(alice)).length === LIMIT);
    await Promise.all(instances.map((instance) => instance.close()));
    const rest = ["448", "449", "450"].map((n) => `ses_${n}${alice.session.id.slice(-10)}`);
    assert.deepEqual(await sessionsOf(alice), rest);
    const [one] = bob as [Tokens];
    assert.deepEqual(
      await sessionsOf(one),
      bob.map(({ session }) => session.id),
    );
    const counted = bench.changes
      .filter(({ action }) => action === "user.sessions_ended")
      .map(({ after }) => after?.["ended"] as number);
    assert.equal(
      counted.reduce((sum, ended) => sum + ended, 0),
      448,
    );
    const ended = bench.events.map(({ data }) => data.session?.id);
    assert.deepEqual([ended.length, new Set(ended).size], [448, 448]);
  });
});
