import assert from "node:assert/strict";
import type { Knex } from "knex";
import type { ControlSettings } from "../../../src/control/platform/context.ts";
import type { RateLimiter, RateLimitResult } from "../../../src/control/platform/frame/rate-limiter.ts";
import type { RateGroup } from "../../../src/control/platform/frame/route.ts";
import { createRateLimiter } from "../../../src/control/platform/rate-limits/limiter.ts";
import { countedSubject } from "../../../src/control/platform/rate-limits/subject.ts";
import { closeDatabase, openDatabase } from "../../../src/storage/index.ts";
import type { Log, LogMethod } from "../../../src/telemetry/log.ts";
import {
  privatePostgres,
  testDatabase,
  type PrivatePostgres,
  type TestDatabase,
} from "../../support/database.ts";
import { TEST_SETTINGS } from "../../support/control.ts";
import { eventually } from "../../support/eventually.ts";
import { bearer, makeKey, send, startGuardedControl } from "../../support/guarded-control.ts";
import { startRedis, type RedisServer } from "../../support/redis.ts";
import { startSpecified, type Specified } from "../support/specified.ts";
import { up as createTable } from "../../../migrations/0042-rate-limits.ts";
import { newApiKeySecret } from "../../../src/control/resources/api-keys/secret.ts";

const LIMITS = { authentication: 20, management: 10, analytics: 5 } as const;

/** The machine may be busy: only a server that is gone is away, and one that was killed refuses at once. */
const PATIENT = { patienceMs: 60_000 };

type Settings = Pick<ControlSettings, "environment" | "rateLimits" | "redisUrl">;

const WINDOW_MS = 55_000;

/** Once more where the machine was so slow that the limit's window ended meanwhile. */
async function withinOneWindow<T>(work: () => Promise<T | undefined>): Promise<T> {
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    const result = await work();
    if (result !== undefined) return result;
  }
  throw new Error("the machine is too slow to reach a limit within its window");
}

describe("rate limits", () => {
  const open: RateLimiter[] = [];
  afterEach(async () => {
    for (const limiter of open.splice(0)) await limiter.close();
  });

  function limiter(
    db: Knex,
    { settings = {}, log = silent(), timing = PATIENT }: Partial<LimiterOptions> = {},
  ): RateLimiter {
    const full: Settings = { environment: "production", rateLimits: LIMITS, ...settings };
    const made = createRateLimiter(full, db, log, timing);
    open.push(made);
    return made;
  }

  describe("counted in PostgreSQL", () => {
    let database: TestDatabase;
    beforeEach(async () => {
      database = await testDatabase();
    });
    afterEach(() => database.close());

    it("allows exactly so many, over two instances at once", async () => {
      const second = openDatabase(database.url, { poolSize: 5 });
      try {
        const instances = [limiter(database.db), limiter(second)];
        await allowsExactly(instances, LIMITS.management);
        const [row] = await database.db("rate_limits");
        assert.equal(row.key, "management:key_a");
      } finally {
        await closeDatabase(second);
      }
    });

    it("counts callers and groups by themselves", async () => {
      const one = limiter(database.db);
      await takeAll(one, "analytics", "key_a", LIMITS.analytics + 1);
      assert.equal((await one.take("analytics", "key_a")).allowed, false);
      assert.equal((await one.take("analytics", "key_b")).allowed, true);
      assert.equal((await one.take("management", "key_a")).allowed, true);
      const limits: Record<RateGroup, number> = { ...LIMITS, gateway: 60_000 };
      for (const [group, limit] of Object.entries(limits)) {
        const standing = await one.take(group as RateGroup, "key_c");
        assert.deepEqual([standing.limit, standing.remaining], [limit, limit - 1]);
      }
    });

    it("tells what is left and when the window ends, which stays the same within it", async () => {
      const one = limiter(database.db);
      const before = Date.now();
      const standings = await takeAll(one, "analytics", "key_a", LIMITS.analytics + 3);
      assert.deepEqual(
        standings.map(({ remaining }) => remaining),
        [4, 3, 2, 1, 0, 0, 0, 0],
      );
      assert.deepEqual(
        standings.map(({ allowed }) => allowed),
        [true, true, true, true, true, false, false, false],
      );
      const [row] = (await database.db("rate_limits")) as [{ readonly expire: number }];
      for (const { resetAt } of standings) {
        assert.ok(Number.isInteger(resetAt));
        // never before the window ends, and no more than the rounding after
        assert.ok(resetAt * 1000 >= row.expire && resetAt * 1000 < row.expire + 1_100);
        assert.ok(row.expire >= before + 60_000);
      }
    });

    it("begins a new window when one is over", async () => {
      const one = limiter(database.db, { timing: { ...PATIENT, windowSeconds: 1 } });
      await takeAll(one, "analytics", "key_a", LIMITS.analytics + 1);
      await eventually("a new window", async () => (await one.take("analytics", "key_a")).allowed);
    });

    it("asks the database one statement a request, and none for who is over the limit", async () => {
      const one = limiter(database.db);
      await one.take("analytics", "key_a");
      // the library takes a connection of the pool, and does not go through knex
      const acquired: unknown[] = [];
      const pool = (database.db.client as { pool: { on(event: string, listener: () => void): void } }).pool;
      pool.on("acquireRequest", () => acquired.push(1));
      await takeAll(one, "analytics", "key_a", LIMITS.analytics - 1);
      assert.equal(acquired.length, LIMITS.analytics - 1);
      await takeAll(one, "analytics", "key_a", 10);
      // a change brings all gateways back at once: each instance counts them by itself
      await takeAll(one, "gateway", "key_a", 10);
      assert.equal(acquired.length, LIMITS.analytics - 1);
    });

    it("counts by itself while the database is away, says so once, and comes back", async () => {
      const server = await privatePostgres();
      const db = openDatabase(server.url, { poolSize: 3 });
      try {
        await db.transaction(createTable);
        await survivesOutage(server, (log) => limiter(db, { log }));
      } finally {
        await closeDatabase(db);
        await server.close();
      }
    });
  });

  describe("counted in Redis", () => {
    let redis: RedisServer;
    // nothing listens there: whoever asks it is found out
    const nowhere = openDatabase("postgres://nobody@127.0.0.1:1/none", { poolSize: 1 });
    // the first time it is downloaded
    before(async function () {
      this.timeout(300_000);
      redis = await startRedis();
    });
    after(async () => {
      await redis.kill();
      await closeDatabase(nowhere);
    });

    const settings = (): Partial<Settings> => ({ redisUrl: redis.url });

    it("allows exactly so many, over two instances at once", async () => {
      const instances = [
        limiter(nowhere, { settings: settings() }),
        limiter(nowhere, { settings: settings() }),
      ];
      await allowsExactly(instances, LIMITS.management);
    });

    it("keeps environments apart on one Redis", async () => {
      const live = limiter(nowhere, { settings: settings() });
      const test = limiter(nowhere, { settings: { ...settings(), environment: "sandbox" } });
      await takeAll(live, "analytics", "key_e", LIMITS.analytics + 1);
      assert.equal((await live.take("analytics", "key_e")).allowed, false);
      assert.equal((await test.take("analytics", "key_e")).remaining, LIMITS.analytics - 1);
    });

    it("begins a new window when one is over", async () => {
      const one = limiter(nowhere, { settings: settings(), timing: { ...PATIENT, windowSeconds: 1 } });
      await takeAll(one, "analytics", "key_w", LIMITS.analytics + 1);
      await eventually("a new window", async () => (await one.take("analytics", "key_w")).allowed);
    });

    it("counts by itself while Redis is away, says so once, and comes back", async () => {
      const server = { kill9: () => redis.kill(), restart: () => redis.restart() };
      await survivesOutage(server, (log) => limiter(nowhere, { settings: settings(), log }));
    });
  });

  describe("over HTTP", () => {
    it("are told with every answer, refusals included, and refuse with 429 and Retry-After", async () => {
      const control = await startGuardedControl({
        settings: { rateLimits: { ...LIMITS, management: 3 } },
        limiter: ({ settings, db, log }) => createRateLimiter(settings, db, log, PATIENT),
      });
      try {
        const { secret } = await makeKey(control, { scope: "read_only" });
        const [good, forbidden, unknown, over] = [
          await send(control, "GET", "/probe", bearer(secret)),
          await send(control, "POST", "/probe", bearer(secret)),
          await send(control, "GET", "/nowhere", bearer(secret)),
          await send(control, "GET", "/probe", bearer(secret)),
        ];
        const headers = [good, forbidden, unknown, over].map(({ status, headers: told }) => [
          status,
          told.get("x-ratelimit-limit"),
          told.get("x-ratelimit-remaining"),
        ]);
        assert.deepEqual(headers, [
          [200, "3", "2"],
          [403, "3", "1"],
          [404, "3", "0"],
          [429, "3", "0"],
        ]);
        const seconds = Number(over.headers.get("retry-after"));
        assert.ok(seconds >= 1 && seconds <= 61);
        assert.match(over.headers.get("x-ratelimit-reset") ?? "", /^\d{10}$/);
        assert.equal(over.body.error.code, "RATE_LIMIT_EXCEEDED");
        assert.equal(
          (await send(control, "GET", "/probe", bearer((await makeKey(control)).secret))).status,
          200,
        );
      } finally {
        await control.close();
      }
    });

    it("count who is refused by the address, whatever key is tried", async () => {
      const control = await startGuardedControl({
        settings: { rateLimits: { ...LIMITS, management: 3 } },
        limiter: ({ settings, db, log }) => createRateLimiter(settings, db, log, PATIENT),
      });
      try {
        const statuses: number[] = [];
        for (const headers of [
          {},
          bearer("gh_live_x"),
          bearer(newApiKeySecret("production")),
          bearer(newApiKeySecret("sandbox")),
        ])
          statuses.push((await send(control, "GET", "/probe", headers)).status);
        const { secret } = await makeKey(control);
        statuses.push((await send(control, "GET", "/probe", bearer(secret))).status);
        statuses.push(
          (await send(control, "POST", "/dashboard/login", {}, { email: "a@b.org", password: "x" })).status,
        );
        assert.deepEqual(statuses, [401, 401, 401, 429, 200, 429]);
      } finally {
        await control.close();
      }
    });
  });

  it("take a network of IPv6 addresses for one", () => {
    for (const [subject, counted] of [
      ["key_a", "key_a"],
      ["ip:192.0.2.1", "ip:192.0.2.1"],
      ["ip:2001:db8:1:2:3:4:5:6", "ip:2001:db8:1:2::/64"],
      ["ip:2001:db8:1:2::", "ip:2001:db8:1:2::/64"],
      ["ip:::1", "ip:0:0:0:0::/64"],
      ["ip:fe80::1%eth0", "ip:fe80:0:0:0::/64"],
      ["ip:", "ip:"],
      [`ip:${"x".repeat(9_000)}`, `ip:${"x".repeat(97)}`],
    ] as const)
      assert.equal(countedSubject(subject), counted);
  });
});

interface LimiterOptions {
  readonly settings: Partial<Settings>;
  readonly log: Log;
  readonly timing: NonNullable<Parameters<typeof createRateLimiter>[3]>;
}

async function takeAll(
  limiter: RateLimiter,
  group: RateGroup,
  subject: string,
  count: number,
): Promise<RateLimitResult[]> {
  const standings: RateLimitResult[] = [];
  for (let i = 0; i < count; i += 1) standings.push(await limiter.take(group, subject));
  return standings;
}

async function allowsExactly(instances: readonly RateLimiter[], limit: number): Promise<void> {
  const asked = Array.from({ length: 4 * limit }, (_, at) =>
    instances[at % instances.length]!.take("management", "key_a"),
  );
  const standings = await Promise.all(asked);
  assert.equal(standings.filter(({ allowed }) => allowed).length, limit);
  assert.ok(standings.every(({ remaining }) => remaining >= 0 && remaining < limit));
}

async function survivesOutage(
  server: Pick<PrivatePostgres, "kill9" | "restart">,
  make: (log: Log) => RateLimiter,
): Promise<void> {
  const lines: string[] = [];
  const one = make(listening(lines));
  const other = make(silent());
  assert.equal((await one.take("analytics", "key_o")).remaining, LIMITS.analytics - 1);
  assert.equal((await other.take("analytics", "key_o")).remaining, LIMITS.analytics - 2);
  await server.kill9();
  // alone: each has a count of its own, which begins anew
  const standings = await takeAll(one, "analytics", "key_o", LIMITS.analytics + 1);
  assert.deepEqual(
    standings.map(({ allowed }) => allowed),
    [true, true, true, true, true, false],
  );
  assert.equal((await other.take("analytics", "key_o")).remaining, LIMITS.analytics - 1);
  assert.deepEqual(lines, ["warn"]);
  await server.restart();
  // counted by the other one as well: together again
  let at = 0;
  await eventually("one count for both", async () => {
    at += 1;
    await one.take("analytics", `key_${at}`);
    return (await other.take("analytics", `key_${at}`)).remaining === LIMITS.analytics - 2;
  });
  assert.deepEqual(lines, ["warn", "info"]);
}

function silent(): Log {
  return listening([]);
}

function listening(lines: string[]): Log {
  const method =
    (level: string): LogMethod =>
    () =>
      void lines.push(level);
  return { debug: method("debug"), info: method("info"), warn: method("warn"), error: method("error") };
}

describe("rate limits of the API, specification 7 (429) and 8", function () {
  this.timeout(200_000);
  let api: Specified;
  before(async () => {
    api = await startSpecified({ settings: { rateLimits: TEST_SETTINGS.rateLimits } });
  });
  after(() => api.close());

  for (const [group, limit, method, path] of [
    ["authentication", 1000, "POST", "/auth/refresh"],
    ["management", 500, "GET", "/customers/cus_none"],
    ["analytics", 100, "GET", "/analytics/users"],
  ] as const)
    it(`${group} API: ${limit} requests a minute, told in headers; then 429 and Retry-After`, async () => {
      const body = method === "POST" ? {} : undefined;
      const { seen, answer } = await withinOneWindow(async () => {
        const key = await api.control.keyOf();
        const began = Date.now();
        const counted: number[] = [];
        while (counted.length < limit) {
          const some = Array.from({ length: 20 }, () => api.call(method, path, body, key));
          for (const { status, headers } of await Promise.all(some)) {
            assert.notEqual(status, 429);
            assert.equal(headers.get("x-ratelimit-limit"), String(limit));
            assert.match(headers.get("x-ratelimit-reset") ?? "", /^\d{10}$/);
            counted.push(Number(headers.get("x-ratelimit-remaining")));
          }
        }
        const last = await api.call(method, path, body, key);
        return Date.now() - began < WINDOW_MS ? { seen: counted, answer: last } : undefined;
      });
      assert.deepEqual(
        seen.toSorted((a, b) => b - a),
        Array.from({ length: limit }, (_, at) => limit - 1 - at),
      );
      assert.deepEqual([answer.status, answer.body.error.code], [429, "RATE_LIMIT_EXCEEDED"]);
      const seconds = Number(answer.headers.get("retry-after"));
      // whole seconds, rounded up
      assert.ok(seconds >= 1 && seconds <= 61, String(seconds));
      assert.equal(answer.headers.get("x-ratelimit-remaining"), "0");
      // another key has a count of its own
      assert.notEqual((await api.call(method, path, body)).status, 429);
    });
});
