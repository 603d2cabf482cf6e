import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAccessLog, type RequestOutcome } from "../../src/extauthz/access-log.ts";
import { HealthState } from "../../src/extauthz/health.ts";
import { startAuthzServer, type AuthzServer } from "../../src/extauthz/server.ts";
import type { EnvoyProcess } from "../../src/gateway/envoy-process.ts";
import { createMetrics } from "../../src/telemetry/metrics.ts";
import { until } from "./support/client.ts";
import { startLoggingEnvoy } from "./support/logging-envoy.ts";

describe("extauthz: access log, from a real Envoy", () => {
  let folder: string;
  let server: AuthzServer;
  let envoy: EnvoyProcess;
  let outcomes: RequestOutcome[];
  const metrics = createMetrics();
  const fail = (_: object, message: string) => assert.fail(message);
  const log = { info: () => undefined, warn: fail, error: fail };
  const socket = () => join(folder, "authz.sock");

  const serve = () => {
    const take = createAccessLog({
      onOutcome: (outcome) => outcomes.push(outcome),
      onRefusal: () => undefined,
      metrics,
      log,
    });
    return startAuthzServer({
      listen: { unix: socket() },
      check: (bytes) => bytes,
      accessLog: take,
      health: new HealthState(),
      log,
    });
  };
  const ask = async (...notes: readonly (readonly [filter: string, key: string, value: string])[]) => {
    const note = notes.map((parts) => `${parts.join(" ")}|`).join("");
    const response = await fetch(`http://127.0.0.1:${envoy.listenPort}/some/path`, {
      headers: { "x-note": note },
    });
    assert.equal(await response.text(), "hello");
  };

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "gatehouse-access-log-"));
    outcomes = [];
    server = await serve();
    envoy = await startLoggingEnvoy(socket(), join(folder, "envoy"));
  });
  after(async () => {
    await envoy.stop(0);
    await server.close(0);
    await rm(folder, { recursive: true });
  });
  beforeEach(() => {
    outcomes.length = 0;
  });

  it("learns what Lua noted, and what Envoy alone knows", async () => {
    const before = Date.now();
    await ask(
      ["gatehouse", "decision_id", "dec_1"],
      ["gatehouse", "outcome", '{"response":{"result":"masked","count":2,"paths":["$.ssn"]}}'],
      ["gatehouse", "state", "done"],
    );
    await until(() => outcomes.length > 0, "the outcome");
    const [{ at, durationMs, ...outcome }] = outcomes as [RequestOutcome];
    assert.deepEqual(outcome, {
      event: "response",
      response: { result: "masked", paths: ["$.ssn"], count: 2, dropped: 0 },
      decisionId: "dec_1",
      handshake: false,
      responseCode: 418,
      responseBytes: 5,
      details: "direct_response",
    });
    assert.ok(at >= before - 1_000 && at <= Date.now() + 1_000);
    assert.ok(durationMs > 0);
  });

  it("knows a handshake by what the service sent along", async () => {
    await ask(
      ["envoy.filters.http.ext_authz", "decision_id", "dec_2"],
      ["envoy.filters.http.ext_authz", "state_epoch", "e"],
    );
    await until(() => outcomes.length > 0, "the outcome");
    assert.deepEqual([outcomes[0]?.decisionId, outcomes[0]?.handshake], ["dec_2", true]);
  });

  it("is told again after the service was away", async () => {
    await server.close(0);
    server = await serve();
    await until(async () => {
      await ask(["gatehouse", "decision_id", "dec_3"]);
      return outcomes.length > 0;
    }, "an outcome");
    assert.equal(outcomes[0]?.decisionId, "dec_3");
  });
});
