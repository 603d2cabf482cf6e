import assert from "node:assert/strict";
import type { CarriedPlan } from "../../src/decision/point/index.ts";
import type { PlanIR } from "../../src/policy/index.ts";
import { checkRequest } from "../support/check-request.ts";
import { allowed, denied, envoys, openCheckWorld, type Answer } from "./support/check-world.ts";
import { CHECK_RESPONSE, decodeWith } from "./support/protos.ts";

/** Connections that are all taken, and which of them were withdrawn. */
function watched(left: boolean) {
  const ended: string[] = [];
  const connections = {
    add: () => undefined,
    slotOf: () => undefined,
    withdraw: (id: string) => void ended.push(id),
    hasLeft: () => left,
  };
  return { connections, ended };
}

describe("extauthz: check sends along what is left to do", () => {
  let world: Awaited<ReturnType<typeof openCheckWorld>>;
  before(async () => {
    world = await openCheckWorld();
  });
  afterEach(() => world.flush());
  after(() => world.close());
  const checkOf: typeof world.checkOf = (...change) => world.checkOf(...change);
  const get: typeof world.get = (...parts) => world.get(...parts);

  /** Without what every decision says of itself. */
  const metadataOf = ({ dynamic_metadata: metadata }: Answer) =>
    Object.fromEntries(
      Object.entries(metadata?.fields ?? {})
        .filter(([key]) => key !== "final")
        .map(([key, value]) => [key, value.stringValue ?? value.numberValue]),
    );
  const HANDSHAKE: [string, string][] = [
    ["connection", "Upgrade"],
    ["upgrade", "websocket"],
  ];

  it("with the answer, and under the id of the decision's record", async () => {
    const { ask, records } = checkOf();
    const answer = await ask(await get("/masked", { role: "viewer" }));
    const { set, remove } = allowed(answer);
    assert.equal(set["x-user-role"], "viewer");
    for (const name of ["accept-encoding", "range", "if-range"]) assert.ok(remove.includes(name), name);
    const { plan, decision_id, ...others } = metadataOf(answer);
    assert.deepEqual(Object.keys(others).sort(), ["method", "request_id"]);
    assert.equal(others["method"], "GET");
    assert.equal((JSON.parse(String(plan)) as PlanIR).response?.fields[0]?.action.kind, "remove");
    assert.equal((await records())[0]?.decision_id, decision_id);
  });

  it("not where nothing is", async () => {
    const { ask } = checkOf();
    const answer = await ask(await get("/masked", { role: "admin" }));
    assert.ok(!allowed(answer).remove.includes("accept-encoding"));
    assert.deepEqual(metadataOf(answer), {});
  });

  it("with a handshake, which is looked after from then on", async () => {
    const open: CarriedPlan[] = [];
    const connections = {
      add: (plan: CarriedPlan) => (open.push(plan) < 3 ? undefined : ("TOO_MANY_CONNECTIONS" as const)),
      slotOf: () => ({ slot: 3, generation: "00000012" }),
      withdraw: () => undefined,
      hasLeft: () => false,
    };
    const { ask } = checkOf({ connections, place: { file: "/run/0.json", epoch: "e-7" } });
    const exp = Math.floor(Date.now() / 1000) + 60;
    const answer = await ask(await get("/feed", { exp }, HANDSHAKE));
    assert.ok(allowed(answer).remove.includes("sec-websocket-extensions"));
    const { state_file, state_epoch, expires_at, plan, decision_id, slot, generation } = metadataOf(answer);
    assert.deepEqual([slot, generation], [3, "00000012"]);
    assert.deepEqual([state_file, state_epoch, expires_at], ["/run/0.json", "e-7", exp]);
    assert.deepEqual(
      open.map(({ text, decisionId, expiresAt }) => [text, decisionId, expiresAt]),
      [[plan, decision_id, exp]],
    );
    await ask(await get("/feed", {}, HANDSHAKE));
    assert.equal(denied(await ask(await get("/feed", {}, HANDSHAKE))).status, 503);
  });

  it("but denies where the route does not say that it can carry it out", async () => {
    const { ask } = checkOf();
    for (const plans of ["", "2"]) {
      for (const bytes of [await get("/masked", {}, [], plans), await get("/feed", {}, HANDSHAKE, plans)]) {
        const { status } = denied(await ask(bytes));
        assert.equal(status, 503);
      }
      // nothing to carry out: an administrator sees all, and a path rule lets the connection be
      allowed(await ask(await get("/masked", { role: "admin" }, [], plans)));
    }
  });

  it("and leaves a connection that only has to end some day to proxies without filters", async () => {
    const { ask } = checkOf({}, true, 'policies: [{ resource: GET /ws, condition: "true" }]');
    const answer = await ask(await get("/ws", {}, HANDSHAKE, ""));
    allowed(answer);
    assert.deepEqual(metadataOf(answer), {});
  });

  it("and forgets the connection where the decision is turned in the end", async () => {
    const { connections, ended } = watched(false);
    const { check } = checkOf({ connections });
    const bytes = await check(await get("/feed", {}, HANDSHAKE), { deadline: 1 });
    assert.equal(denied(decodeWith(envoys, CHECK_RESPONSE, bytes as Buffer)).status, 503);
    assert.equal(ended.length, 1);
  });

  it("and forgets the connection where nobody hears the answer", async () => {
    for (const [cancelled, left] of [
      [true, false],
      [false, true],
      [false, false],
    ] as const) {
      const { connections, ended } = watched(left);
      const { check } = checkOf({ connections });
      const deadline = Number.POSITIVE_INFINITY;
      await check(await get("/feed", {}, HANDSHAKE), { deadline, isCancelled: () => cancelled });
      assert.equal(ended.length, cancelled || left ? 1 : 0);
    }
  });

  it("tells GraphQL clients in their own shape", async () => {
    const { ask } = checkOf();
    const body = '{"query":"{ you { id } }"}';
    const request = (accept: string) =>
      checkRequest({
        method: "POST",
        path: "/graphql",
        headers: [
          ["content-type", "application/json"],
          ["accept", accept],
          ["x-envoy-auth-partial-body", "false"],
        ],
        body: Buffer.from(body),
      });
    const { status, headers, body: text } = denied(await ask(request("text/html")));
    assert.deepEqual([status, headers["content-type"]], [403, "application/json"]);
    const { errors, extensions } = JSON.parse(text) as {
      errors: { path: string[]; extensions: { code: string } }[];
      extensions: { request_id: string };
    };
    assert.deepEqual(
      errors.map(({ path, extensions }) => [path, extensions.code]),
      [[["you"], "ACCESS_DENIED"]],
    );
    assert.equal(typeof extensions.request_id, "string");
    const newer = denied(await ask(request("application/graphql-response+json")));
    assert.equal(newer.headers["content-type"], "application/graphql-response+json; charset=utf-8");
  });
});
