import assert from "node:assert/strict";
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
      impatient.authz.decide = () => ALLOW;
      await until(async () => (await send(impatient.port, "/a")).status === 200, "decisions are made again");
    } finally {
      await impatient.stop();
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
  it("asks all of them, and none that has died: no request fails for it", async () => {
    const second = await new AuthzStub().listen();
    const gateway = await startGateway({ workers: [second], overrides: { "authz.decision_timeout": "8s" } });
    try {
      const statuses = async () => {
        const answers = await Promise.all(Array.from({ length: 20 }, () => send(gateway.port, "/a")));
        return new Set(answers.map(({ status }) => status));
      };
      assert.deepEqual(await statuses(), new Set([200]));
      assert.ok(gateway.authz.checks.length > 0 && second.checks.length > 0);
      // stuck: it takes checks and never answers
      second.decide = () => "never";
      const before = second.checks.length;
      assert.deepEqual(await statuses(), new Set([200]));
      // what is asked again is known by the stream's id: a handshake would be one connection
      const ids = ({ checks }: AuthzStub) => checks.map(({ attributes }) => attributes.request.http.id);
      const stuck = ids(second).slice(before);
      assert.ok(stuck.length > 0);
      const answered = new Set(ids(gateway.authz));
      assert.ok(stuck.every((id) => id !== "" && answered.has(id)));
      second.stop();
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
