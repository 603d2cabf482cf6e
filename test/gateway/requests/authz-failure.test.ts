import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type IncomingHttpHeaders } from "node:http2";
import { checkLimits } from "../../../src/gateway/check-limits.ts";
import { askAdmin } from "../../../src/gateway/envoy-admin.ts";
import { ALLOW, AuthzStub, denial } from "../support/authz-stub.ts";
import type { CheckAnswer } from "../support/authz-stub.ts";
import { send, until } from "../support/client.ts";
import { startGateway } from "../support/gateway.ts";
import type { TestGateway } from "../support/gateway.ts";

function errorCode(body: string): string {
  return (JSON.parse(body) as { error: { code: string } }).error.code;
}

describe("gateway without a decision", () => {
  let gateway: TestGateway;

  beforeEach(async () => {
    gateway = await startGateway();
  });
  afterEach(() => gateway.stop());

  it("answers 503 when the service is down, and never forwards", async () => {
    assert.equal((await send(gateway.port, "/a")).status, 200);
    gateway.authz.stop();
    for (let n = 0; n < 20; n++) {
      const answer = await send(gateway.port, "/a");
      assert.equal(answer.status, 503);
      assert.equal(errorCode(answer.body), "SERVICE_UNAVAILABLE");
    }
    assert.equal(gateway.upstream.seen.length, 1);
  });

  it("answers 503 when the service is late, and never forwards", async () => {
    const impatient = await startGateway({ overrides: { "authz.decision_timeout": "200ms" } });
    try {
      impatient.authz.decide = () => "never";
      const answer = await send(impatient.port, "/a", { method: "POST", body: "x" });
      assert.equal(answer.status, 503);
      assert.equal(errorCode(answer.body), "SERVICE_UNAVAILABLE");
      assert.equal(impatient.upstream.seen.length, 0);
      // on a busy machine, the check may reach the worker after the answer
      await until(() => impatient.authz.checks.length > 0, "the worker has it");
      assert.equal(impatient.authz.checks.length, 1, "a busy worker is not asked again");
      impatient.authz.decide = () => ALLOW;
      await until(async () => (await send(impatient.port, "/a")).status === 200, "decisions are made again");
    } finally {
      await impatient.stop();
    }
  });

  it("waits for a worker that is busy, as long as a check may wait for its turn", async () => {
    const patient = await startGateway({
      overrides: { "authz.decision_timeout": "200ms", "authz.queue_timeout": "1m" },
    });
    try {
      patient.authz.decide = () => "never";
      const session = connect(`http://127.0.0.1:${patient.port}`);
      session.on("error", () => undefined);
      const request = session.request({ ":path": "/a", authorization: "Bearer x" });
      request.on("error", () => undefined);
      let answered = false;
      request.on("response", () => (answered = true));
      await until(() => patient.authz.checks.length === 1, "the worker has it");
      // longer than a decision may take, without and with the one retry of a connection
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      assert.deepEqual([answered, patient.authz.checks.length], [false, 1]);
      session.destroy();
    } finally {
      await patient.stop();
    }
  });

  it("answers 503 at once, and asks nobody, when workers answer too little for what is under way", async () => {
    const most = 32;
    gateway.authz.decide = () => "never";
    let now = 0;
    const adjust = checkLimits(gateway.envoy.admin, {
      workers: 1,
      timeout: 5_000,
      isBusy: () => true,
      clock: () => (now += 250),
    });
    const session = connect(`http://127.0.0.1:${gateway.port}`);
    session.on("error", () => undefined);
    const ask = () => {
      const request = session.request({ ":path": "/a", authorization: "Bearer x" });
      request.on("error", () => undefined);
      return once(request, "response") as Promise<[IncomingHttpHeaders]>;
    };
    try {
      for (let index = 0; index <= most; index += 1) ask().catch(() => undefined);
      await until(() => gateway.authz.checks.length > most, "the worker has them");
      for (let step = 0; step < 12; step += 1) await adjust();
      const [refused] = await ask();
      assert.deepEqual([refused[":status"], refused["retry-after"]], [503, "1"]);
      assert.equal(gateway.authz.checks.length, most + 1);
      // what is answered makes room, and in time more of it
      session.destroy();
      gateway.authz.decide = () => ALLOW;
      await until(async () => (await send(gateway.port, "/a")).status === 200, "it decides again");
      for (let step = 0; step < 40; step += 1) await adjust();
      const key = "circuit_breakers.ext_authz.default.max_requests";
      const { body } = await askAdmin(gateway.envoy.admin, "GET", "/runtime?format=json");
      const { entries } = JSON.parse(body) as { entries: Record<string, { final_value: string }> };
      assert.equal(entries[key]?.final_value, "16384");
      assert.equal(gateway.upstream.seen.length, 1);
    } finally {
      session.destroy();
    }
  });

  const unusable: readonly (readonly [string, CheckAnswer, number])[] = [
    ["a status that is neither allow nor denial", { status: { code: 13 } }, 403],
    ["a header that would split the answer", splitting("okResponse"), 500],
    ["a denial that would split the answer", splitting("deniedResponse"), 500],
  ];
  for (const [name, answer, status] of unusable) {
    it(`does not forward on ${name}`, async () => {
      gateway.authz.decide = () => answer;
      assert.equal((await send(gateway.port, "/a")).status, status);
      assert.equal(gateway.upstream.seen.length, 0);
    });
  }

  it("hands on the service's denial as it is, whatever its status", async () => {
    for (const status of [400, 401, 403, 413, 429, 500, 503]) {
      gateway.authz.decide = () => denial(status, "my own words");
      const answer = await send(gateway.port, "/a");
      assert.deepEqual(
        [answer.status, answer.body, answer.headers["content-type"]],
        [status, "my own words", "text/x-denial"],
      );
    }
    assert.equal(gateway.upstream.seen.length, 0);
  });

  it("is told by Envoy of what Envoy refused, and not of what it has denied itself", async () => {
    gateway.authz.decide = () => denial(403, "no");
    for (let n = 0; n < 3; n++) assert.equal((await send(gateway.port, "/a")).status, 403);
    assert.equal((await send(gateway.port, "/a#b")).status, 400);
    const entries = async () => {
      const { body } = await askAdmin(
        gateway.envoy.admin,
        "GET",
        "/stats?filter=grpc_access_log.logs_(written|dropped)$",
      );
      return [...body.matchAll(/: (\d+)$/gm)].reduce((sum, [, count]) => sum + Number(count), 0);
    };
    await until(async () => (await entries()) > 0, "the access log has its entry");
    assert.equal(await entries(), 1);
  });
});

describe("gateway with several workers", () => {
  it("asks all of them, and once more only what one of them did not answer before it died", async () => {
    const second = await new AuthzStub().listen();
    const gateway = await startGateway({ workers: [second], overrides: { "authz.decision_timeout": "8s" } });
    try {
      const statuses = async () => {
        const answers = await Promise.all(Array.from({ length: 20 }, () => send(gateway.port, "/a")));
        return new Set(answers.map(({ status }) => status));
      };
      assert.deepEqual(await statuses(), new Set([200]));
      assert.ok(gateway.authz.checks.length > 0 && second.checks.length > 0);
      // it takes checks, and dies before it answers them
      second.decide = () => "never";
      const before = [gateway.authz.checks.length, second.checks.length] as const;
      const answers = statuses();
      const taken = () => gateway.authz.checks.length + second.checks.length - before[0] - before[1];
      await until(() => taken() === 20, "each is asked once");
      second.stop();
      assert.deepEqual(await answers, new Set([200]));
      // what is asked again is known by the stream's id: a handshake would be one connection
      const ids = ({ checks }: AuthzStub) => checks.map(({ attributes }) => attributes.request.http.id);
      const unanswered = ids(second).slice(before[1]);
      assert.ok(unanswered.length > 0);
      assert.equal(taken(), 20 + unanswered.length);
      const answered = new Set(ids(gateway.authz));
      assert.ok(unanswered.every((id) => id !== "" && answered.has(id)));
      for (let n = 0; n < 3; n++) assert.deepEqual(await statuses(), new Set([200]));
      gateway.authz.stop();
      assert.deepEqual(await statuses(), new Set([503]));
    } finally {
      await gateway.stop();
    }
  });
});

function splitting(kind: "okResponse" | "deniedResponse"): CheckAnswer {
  const headers = [{ header: { key: "x-a", value: "a\r\nx-b: b" } }];
  if (kind === "okResponse") return { status: { code: 0 }, okResponse: { headers } };
  return { status: { code: 7 }, deniedResponse: { status: { code: 403 }, headers } };
}
