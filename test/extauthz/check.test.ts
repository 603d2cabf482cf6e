import assert from "node:assert/strict";
import { GIVEN_UP } from "../../src/decision/point/index.ts";
import { withinTime, type CheckDependencies } from "../../src/extauthz/check.ts";
import { bearer } from "../decision/support.ts";
import { checkRequest } from "../support/check-request.ts";
import { encode } from "./support/checks.ts";
import { allowed, denied, envoys, openCheckWorld } from "./support/check-world.ts";
import { CHECK_REQUEST, encodeWith } from "./support/protos.ts";

describe("extauthz: check", () => {
  let world: Awaited<ReturnType<typeof openCheckWorld>>;
  before(async () => {
    world = await openCheckWorld();
  });
  afterEach(() => world.flush());
  after(() => world.close());
  const checkOf: typeof world.checkOf = (...change) => world.checkOf(...change);
  const get: typeof world.get = (...parts) => world.get(...parts);

  it("allows with the caller's headers set and every other one removed", async () => {
    const { ask, records } = checkOf();
    const answer = allowed(await ask(await get("/me", { sub: "u-7" }, [["x-user-role", "admin"]])));
    assert.deepEqual(answer.set, { "x-user-id": "u-7" });
    assert.deepEqual(answer.remove, ["x-backend-url", "x-real-ip", "x-user-role", "x-user-token"]);
    const [record, ...more] = await records();
    assert.deepEqual(more, []);
    assert.deepEqual(
      [record?.decision, record?.reason, record?.user_id, record?.resource, record?.action],
      ["ALLOW", "CONDITION_TRUE", "u-7", "/me", "GET"],
    );
  });

  it("allows nobody with nothing set", async () => {
    const answer = allowed(await checkOf().ask(await get("/public")));
    assert.deepEqual(answer.set, {});
    assert.deepEqual(answer.remove, [
      "x-backend-url",
      "x-real-ip",
      "x-user-id",
      "x-user-role",
      "x-user-token",
    ]);
  });

  it("has what a client made up removed by the names that were sent, for this request alone", async () => {
    const { ask } = checkOf();
    const removed = ["x-backend-url", "x-real-ip", "x-user-role", "x-user-token"];
    const disguised: [string, string][] = [
      ["x.user.id", "root"],
      ["x-user-id", "root"],
      ["x-user-customer-id", "c-1"],
      ["x.user.token", "t"],
      ["x.real.ip", "10.0.0.9"],
    ];
    for (const more of [[], disguised, []]) {
      const made = more.map(([name]) => name).filter((name) => name !== "x-user-id");
      for (const path of ["/me", "/masked"]) {
        const answer = allowed(await ask(await get(path, { sub: "u-7" }, more)));
        const planned = path === "/masked" ? { "x-gatehouse-plan": "1" } : {};
        assert.deepEqual(answer.set, { "x-user-id": "u-7", ...planned });
        const others = answer.remove.filter((name) => name.startsWith("x"));
        const ranges = path === "/masked" ? ["x-ms-range", "x-range"] : [];
        assert.deepEqual(others.sort(), [...removed, ...made, ...ranges].sort(), path);
      }
      const nobody = allowed(await ask(await get("/public", undefined, more)));
      assert.deepEqual(nobody.remove, [...removed, ...made, "x-user-id"].sort());
    }
  });

  it("lets no rule read what the application does not get", async () => {
    const { ask } = checkOf();
    assert.equal(denied(await ask(await get("/plan", undefined, [["x-user-plan", "gold"]]))).status, 403);
    allowed(await ask(await get("/agent", undefined, [["x-user-agent", "grpc-web"]])));
  });

  it("leaves X-Real-IP to a trusted proxy alone, whoever asked before", async () => {
    const { ask } = checkOf();
    const token = await world.issuer.token({ sub: "u-1" });
    const from = (peer: string, path: string) => checkRequest({ path, peer, headers: [bearer(token)] });
    for (const path of ["/me", "/public"]) {
      for (const [peer, removed] of [
        ["10.0.0.1", false],
        ["10.0.0.2", true],
        ["10.0.0.1", false],
      ] as const)
        assert.equal(allowed(await ask(from(peer, path))).remove.includes("x-real-ip"), removed);
    }
  });

  it("believes of a proxy what the route's constants say, and nobody who merely sends such a copy", async () => {
    const { ask } = checkOf();
    const headers = [
      ["x-forwarded-proto", "http"],
      ["x-gatehouse-forwarded-proto", "https"],
    ] as const;
    const asked = async (peer: string, extensions: Readonly<Record<string, string>>) => {
      const { set } = allowed(await ask(checkRequest({ path: "/public", peer, headers, extensions })));
      return [set["x-forwarded-for"], set["x-forwarded-proto"]];
    };
    const copied = { gatehouse_forwarded_proto: "copied" };
    assert.deepEqual(await asked("10.0.0.1", copied), ["10.0.0.1", "https"]);
    assert.deepEqual(await asked("10.0.0.2", copied), ["10.0.0.2", undefined]);
    assert.deepEqual(await asked("10.0.0.1", {}), ["10.0.0.1", undefined]);
    // by the PROXY protocol, the peer is the client
    const via = (proxyProtocol: string) => ({ ...copied, gatehouse_proxy_protocol: proxyProtocol });
    assert.deepEqual(await asked("10.0.0.2", via("http")), ["10.0.0.2", "https"]);
    assert.deepEqual(await asked("10.0.0.1", via("tcp")), ["10.0.0.1", undefined]);
    assert.deepEqual(await asked("10.0.0.2", via("else")), ["10.0.0.2", undefined]);
  });

  it("never mixes identities, in whatever order they come, waiting or not", async () => {
    const { ask, records } = checkOf();
    const people = await Promise.all(
      ["ada", "bob", "eve", "joe"].map(async (name) => ({
        name,
        bytes: await get("/me", { sub: name, role: `${name}'s` }),
        anonymous: await get("/public"),
      })),
    );
    const order = Array.from(
      { length: 80 },
      (_, index) => people[(index * 7 + (index >> 2)) % people.length]!,
    );
    await Promise.all(
      order.map(async ({ name, bytes, anonymous }) => {
        assert.deepEqual(allowed(await ask(bytes)).set, { "x-user-id": name, "x-user-role": `${name}'s` });
        assert.deepEqual(allowed(await ask(anonymous)).set, {});
      }),
    );
    assert.equal((await records()).length, 160);
  });

  it("gives the same answer for the same token when it is known already, without waiting", async () => {
    const { check } = checkOf();
    const bytes = await get("/me", { sub: "u-9" });
    const first = await check(bytes, { deadline: Infinity });
    const second = check(bytes, { deadline: Infinity });
    assert.ok(Buffer.isBuffer(second));
    assert.deepEqual(second, first);
    const renewed = await check(await get("/me", { sub: "u-9", jti: "2" }), { deadline: Infinity });
    assert.deepEqual(renewed, first);
  });

  describe("denies", () => {
    it("as JSON", async () => {
      const { ask } = checkOf();
      const { status, grpc, headers, body } = denied(await ask(await get("/admin", { role: "viewer" })));
      assert.deepEqual([status, grpc], [403, 7]);
      assert.equal(headers["content-type"], "application/json");
      const { error, meta } = JSON.parse(body) as {
        error: { code: string; details: object };
        meta: { request_id: string };
      };
      assert.equal(error.code, "ACCESS_DENIED");
      assert.deepEqual(error.details, { reason: "CONDITION_FALSE", resource: "/admin", action: "GET" });
      assert.equal(meta.request_id, "3dded9cd-c371-4991-8ec2-0b2235be6220");
    });
    it("with a challenge where nobody is known", async () => {
      const { status, grpc, headers } = denied(await checkOf().ask(await get("/admin")));
      assert.deepEqual([status, grpc], [401, 16]);
      assert.equal(headers["www-authenticate"], 'Bearer realm="gatehouse"');
    });
    it("as a page for browsers", async () => {
      const bytes = checkRequest({ path: "/admin", headers: [["accept", "text/html,*/*;q=0.8"]] });
      const { status, headers, body } = denied(await checkOf().ask(bytes));
      assert.equal(status, 401);
      assert.match(headers["content-type"] ?? "", /^text\/html/);
      assert.match(body, /^<!doctype html>/);
    });
    it("as a gRPC status for gRPC callers", async () => {
      const headers = [["content-type", "application/grpc"]] as const;
      const { status, headers: sent } = denied(
        await checkOf().ask(checkRequest({ method: "POST", path: "/admin", headers })),
      );
      assert.equal(status, 403);
      assert.equal(sent["grpc-status"], "7");
      assert.equal(sent["content-type"], undefined);
    });
    it("without a body for HEAD", async () => {
      const { body } = denied(await checkOf().ask(checkRequest({ method: "HEAD", path: "/admin" })));
      assert.equal(body, "");
    });
    it("without the reason where it is not to be told", async () => {
      const { ask, records } = checkOf({ denialDetails: "none" });
      const { body } = denied(await ask(await get("/admin", { role: "viewer" })));
      assert.ok(!body.includes("CONDITION_FALSE") && !body.includes("/admin"));
      assert.equal((await records())[0]?.reason, "CONDITION_FALSE");
    });
    it("what can be read in two ways", async () => {
      const { status, body } = denied(await checkOf().ask(checkRequest({ path: "/public/%2e%2e/admin" })));
      assert.equal(status, 400);
      assert.match(body, /"AMBIGUOUS_PATH"/);
    });
    it("what comes too late, and what must be recorded and cannot be", async () => {
      const late = checkOf();
      assert.equal(denied(await late.ask(await get("/public"), 1)).status, 503);
      assert.deepEqual(
        (await late.records()).map(({ decision, reason }) => [decision, reason]),
        [["DENY", "DEADLINE_EXCEEDED"]],
      );
      assert.deepEqual(late.spans, [
        { "gatehouse.decision": "DENY", "gatehouse.reason": "DEADLINE_EXCEEDED" },
      ]);
      const unrecorded = checkOf({}, false);
      assert.equal(denied(await unrecorded.ask(await get("/kept"))).status, 503);
      allowed(await unrecorded.ask(await get("/public")));
    });
  });

  it("leaves what our own Envoy no longer waits for, by the time at which it asked", async () => {
    const { check, records } = checkOf({ decisionTimeout: 60_000 });
    const asked = (askedAfter: number, deadline = Infinity) =>
      check(checkRequest({ path: "/public" }), { deadline, askedAfter });
    // a body that took long to arrive costs the check nothing; time in a queue does
    for (const askedAfter of [0, -50_000, 3_600_000]) assert.ok(Buffer.isBuffer(await asked(askedAfter)));
    for (const late of [asked(-61_000), asked(0, Date.now() - 1)]) assert.equal(await late, GIVEN_UP);
    assert.deepEqual(
      (await records()).map(({ reason }) => reason),
      Array.from({ length: 3 }, () => "CONDITION_TRUE"),
    );
  });

  it("decides what has waited for its turn, and has the whole time limit for it", async () => {
    const { check } = checkOf({ decisionTimeout: 10_000, queueTimeout: 50_000 });
    const asked = (askedAfter: number) =>
      check(checkRequest({ path: "/public" }), { deadline: Infinity, askedAfter });
    assert.ok(Buffer.isBuffer(await asked(-40_000)));
    assert.equal(await asked(-61_000), GIVEN_UP);
  });

  it("ends a check of our own Envoy that is not decided in time", async () => {
    const hangs = withinTime(() => new Promise(() => undefined), 1);
    assert.equal(await hangs(Buffer.alloc(0), { deadline: Infinity, askedAfter: 0 }), GIVEN_UP);
    const answer = Buffer.from("x");
    const answers = withinTime(() => Promise.resolve(answer), 60_000);
    assert.equal(await answers(Buffer.alloc(0), { deadline: Infinity, askedAfter: 0 }), answer);
  });

  describe("bytes that are no check", () => {
    const good = checkRequest({ path: "/public" });
    const cases: readonly [string, Buffer][] = [
      ["nothing", Buffer.alloc(0)],
      ["noise", Buffer.from("ffffffffffffffffffff01", "hex")],
      ["half of one", good.subarray(0, good.length >> 1)],
      ["one and a bit", Buffer.concat([good, Buffer.from([0x0a])])],
      ["one about no request", encodeWith(envoys, CHECK_REQUEST, { attributes: { source: {} } })],
    ];
    for (const [what, bytes] of cases) {
      it(`${what}: a denial with one record`, async () => {
        const { ask, records, metrics } = checkOf();
        assert.equal(denied(await ask(bytes)).status, 500);
        assert.deepEqual(
          (await records()).map(({ decision, reason }) => [decision, reason]),
          [["DENY", "INTERNAL_ERROR"]],
        );
        const { values } = await metrics.decisions.get();
        assert.deepEqual(
          values.map(({ labels, value }) => [labels.reason, value]),
          [["INTERNAL_ERROR", 1]],
        );
      });
    }
    it("every beginning of a check is a denial, or the check of what is there", async () => {
      const { ask, records } = checkOf();
      const secret = await get("/admin", { role: "viewer" });
      for (let end = 0; end <= secret.length; end += 1) denied(await ask(secret.subarray(0, end)));
      assert.equal((await records()).length, secret.length + 1);
    });
  });

  it("denies with one record where the answer cannot be made", async () => {
    const faults: CheckDependencies["identityHeaders"][] = [
      () => {
        throw new Error("no headers");
      },
      () => ({ set: [["x-user-id", "a\r\nb"]], remove: [] }),
      () => ({ set: [["host", "evil.test"]], remove: [] }),
      () => ({ set: [["x-a", "1"]], remove: ["x-a"] }),
    ];
    for (const identityHeaders of faults) {
      const { ask, records, spans } = checkOf({ identityHeaders });
      assert.equal(denied(await ask(await get("/public"))).status, 500);
      assert.deepEqual(
        (await records()).map(({ decision, reason }) => [decision, reason]),
        [["DENY", "INTERNAL_ERROR"]],
      );
      assert.equal(spans[0]?.["gatehouse.reason"], "INTERNAL_ERROR");
    }
  });

  it("what an Envoy has joined may have been several headers: it is not known which counts", async () => {
    const policies = `policies: [{ resource: GET /beta, condition: 'request.headers["x-env"] != "prod"' }]`;
    const { ask, records } = checkOf({}, true, policies);
    for (const value of ["dev", "prod, dev"])
      await ask(
        encode({
          http: { method: "GET", path: "/beta", headers: { ":authority": "app.test", "x-env": value } },
        }),
      );
    assert.deepEqual(
      (await records()).map(({ reason }) => reason),
      ["CONDITION_TRUE", "CONDITION_UNKNOWN"],
    );
  });

  it("warns once about an Envoy that joins headers", async () => {
    const { ask, warnings } = checkOf();
    const joined = encode({
      http: { method: "GET", path: "/public", headers: { ":authority": "app.test" } },
    });
    for (let times = 0; times < 3; times += 1) await ask(joined);
    await ask(await get("/public"));
    assert.equal(warnings.length, 1);
  });
});
