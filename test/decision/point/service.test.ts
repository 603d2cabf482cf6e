import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadGatewayConfig } from "../../../src/config/index.ts";
import { createService, type Service } from "../../../src/processes/gateway/service.ts";
import { GIVEN_UP } from "../../../src/decision/point/index.ts";
import { createMetrics } from "../../../src/telemetry/metrics.ts";
import { eventOf } from "../../authorizers/aws/support/events.ts";
import { checkRequest } from "../../support/check-request.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import { policiesInProcess } from "../../support/policies.ts";
import { CHECK_RESPONSE, decodeWith, loadProtos } from "../../extauthz/support/protos.ts";
import { bearer, silentLog } from "../support.ts";

const envoys = loadProtos("envoys");

const POLICIES = `
attributes:
  target: { source: users, key: path.id }
policies:
  - { resource: "GET /open", condition: "true" }
  - { resource: "GET /me", condition: exists(user.id) }
  - { resource: "GET /users/{id}", condition: target.department == "sales" }
  - { resource: "GET /where", condition: env.environment == "staging" }
`;

interface Answer {
  readonly ok_response?: { readonly headers?: { readonly header: { key: string; value: string } }[] };
  readonly denied_response?: { readonly status: { readonly code: number }; readonly body?: string };
}

describe("service", () => {
  let directory: string;
  let issuer: TestIssuer;
  const services: Service[] = [];

  before(async () => {
    issuer = await startIssuer();
  });
  after(() => issuer.close());
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "gatehouse-service-"));
    await mkdir(join(directory, "policies"));
    await writeFile(join(directory, "policies/default.yaml"), POLICIES);
    await writeFile(join(directory, "users.json"), '{"u-7":{"department":"sales"}}');
  });
  afterEach(async () => {
    for (const service of services.splice(0)) await service.close();
    await rm(directory, { recursive: true, force: true });
  });

  /** The service that a configuration describes. */
  async function serviceOf(
    overrides: Readonly<Record<string, unknown>> = {},
    start = true,
    hearsEnvoy = true,
  ) {
    const loaded = loadGatewayConfig({
      env: {},
      overrides: {
        "identity.issuer": issuer.url,
        "identity.audience": issuer.audience,
        "policies.directory": join(directory, "policies"),
        "audit.destination": "file",
        "audit.path": join(directory, "audit.log"),
        attribute_sources: { users: { type: "file", path: join(directory, "users.json") } },
        ...overrides,
      },
    });
    if (!loaded.ok) throw new Error(loaded.errors);
    const metrics = createMetrics();
    const policies = policiesInProcess(loaded.config, join(directory, `runtime-${services.length}`));
    const service = await createService(loaded.config, {
      metrics,
      log: silentLog,
      worker: 0,
      stateDirectory: join(directory, "connections"),
      hearsEnvoy,
      broadcast: (message) => {
        service.onMessage(message);
      },
      sendRelease: policies.sendRelease,
      sendCounts: () => undefined,
    });
    services.push({
      ...service,
      async close() {
        policies.close();
        await service.close();
      },
    });
    const startAll = async () => {
      await service.start();
      await policies.start(service);
    };
    if (start) await startAll();
    const ask = async (
      path: string,
      headers: readonly (readonly [string, string])[] = [],
      peer = "192.0.2.1",
    ) => {
      const bytes = await service.check(checkRequest({ path, headers, peer }), { deadline: Infinity });
      const { ok_response, denied_response } = decodeWith(envoys, CHECK_RESPONSE, bytes as Buffer) as Answer;
      return {
        status: denied_response?.status.code ?? (ok_response === undefined ? 0 : 200),
        body: denied_response?.body ?? "",
        headers: Object.fromEntries(
          (ok_response?.headers ?? []).map(({ header }) => [header.key, header.value]),
        ),
      };
    };
    return { service, ask, metrics, startAll };
  }

  it("answers authorizers of API Gateway as the configuration states, and records that", async () => {
    const event = eventOf("rest", { target: "/open" });
    for (const [overrides, status] of [
      [{ "authz.aws.uncached": true }, 200],
      [{}, 500],
    ] as const) {
      const { service } = await serviceOf(overrides);
      const body = Buffer.from(JSON.stringify(event));
      const answer = await service.httpApis
        .get("/aws")
        ?.answer({ headers: [], body }, { deadline: Number.POSITIVE_INFINITY });
      assert.ok(answer !== undefined && answer !== GIVEN_UP);
      assert.equal(answer.status, status, answer.body);
      await services.pop()?.close();
    }
    const reasons = (await readFile(join(directory, "audit.log"), "utf8")).match(/"reason":"\w+"/g);
    assert.deepEqual(reasons, ['"reason":"CONDITION_TRUE"', '"reason":"PLAN_NOT_ENFORCEABLE"']);
  });

  it("lets the first message of a connection say who its client is only if nobody but our Envoy can ask", async () => {
    await writeFile(
      join(directory, "policies/default.yaml"),
      "graphql_policies:\n  - { query: me, condition: exists(user.id) }\n" +
        "websocket_policies:\n  - connection: { path: /graphql, condition: exists(user.id) }\n",
    );
    const handshake = [
      ["connection", "Upgrade"],
      ["upgrade", "websocket"],
      ["sec-websocket-protocol", "graphql-transport-ws"],
    ] as const;
    const configured = { "identity.connection_params": ["authorization"] };
    for (const [overrides, hearsEnvoy, status] of [
      [configured, true, 200],
      [configured, false, 401],
      [{}, true, 401],
    ] as const) {
      const { service, ask } = await serviceOf(overrides, true, hearsEnvoy);
      assert.equal(service.identify !== undefined, status === 200);
      assert.equal((await ask("/graphql", handshake)).status, status);
    }
  });

  it("answers 503 until it was started, then by its policies", async () => {
    const { service, ask, startAll } = await serviceOf({}, false);
    assert.deepEqual(service.readiness(), {
      policies: { ok: false, detail: "this worker has no policies yet" },
      issuer_keys: { ok: false, detail: "not fetched yet" },
    });
    assert.equal((await ask("/open")).status, 503);
    await startAll();
    assert.deepEqual(service.readiness(), {
      policies: { ok: true, detail: "default@v0 is in force" },
      issuer_keys: { ok: true, detail: "1 key" },
    });
    assert.equal((await ask("/open")).status, 200);
    assert.equal((await ask("/me")).status, 401);
    const known = await ask("/me", [
      bearer(await issuer.token({ sub: "u-1", role: "admin", customer_id: "c-1" })),
    ]);
    assert.equal(known.status, 200);
    assert.deepEqual(known.headers, { "x-user-id": "u-1", "x-user-role": "admin", "x-customer-id": "c-1" });
    assert.equal((await ask("/where")).status, 403);
  });

  it("writes one record a decision, and all of them before it is closed", async () => {
    const { service, ask } = await serviceOf();
    for (const path of ["/open", "/me", "/a//b", "/nowhere"]) await ask(path);
    await service.close();
    const lines = (await readFile(join(directory, "audit.log"), "utf8")).trim().split("\n");
    assert.deepEqual(
      lines.map((line) => (JSON.parse(line) as { reason: string }).reason),
      ["CONDITION_TRUE", "IDENTITY_REQUIRED", "AMBIGUOUS_PATH", "NO_MATCHING_RULE"],
    );
  });

  it("takes what is configured", async () => {
    const usual = await serviceOf();
    assert.equal((await usual.ask("/users/u-7")).status, 200);
    assert.equal((await usual.ask("/users/u-8")).status, 403);
    assert.equal((await usual.ask("/OPEN")).status, 400);
    assert.equal((await usual.ask("/nowhere;v=1")).status, 400);
    assert.match((await usual.ask("/nowhere")).body, /NO_MATCHING_RULE/);
    const token = await issuer.token();
    assert.equal((await usual.ask("/me", [["cookie", `sid=${token}`]])).status, 401);
    assert.equal((await usual.ask("/me", [["x-user-token", token]], "10.0.0.1")).status, 401);

    const changed = await serviceOf({
      "gateway.accept_ambiguous": ["letter_case", "path_parameter"],
      "gateway.denial_details": "none",
      "gateway.trusted_proxies": ["10.0.0.0/8"],
      "identity.cookie": "sid",
      "identity.headers": { "x-who": "user.id" },
      "policies.environment": "staging",
      attribute_sources: {},
    });
    assert.equal((await changed.ask("/users/u-7")).status, 403);
    assert.equal((await changed.ask("/OPEN")).status, 403);
    assert.equal((await changed.ask("/nowhere;v=1")).status, 403);
    assert.doesNotMatch((await changed.ask("/nowhere")).body, /NO_MATCHING_RULE/);
    assert.deepEqual(await changed.ask("/me", [["cookie", `sid=${token}`]]), {
      status: 200,
      body: "",
      // proxies are configured, and the peer is none of them
      headers: { "x-who": "u-1", "x-forwarded-for": "192.0.2.1" },
    });
    assert.equal((await changed.ask("/me", [["x-user-token", token]], "10.0.0.1")).status, 200);
    assert.equal((await changed.ask("/where")).status, 200);
  });

  it("takes tokens without a type for JWTs, and only where JWTs are accepted", async () => {
    const untyped = [bearer(await issuer.token())] as const;
    const access = [bearer(await issuer.token({}, { typ: "at+jwt" }))] as const;
    const usual = await serviceOf();
    const strict = await serviceOf({ "identity.token_types": ["at+jwt"] });
    assert.deepEqual(
      await Promise.all([
        usual.ask("/me", untyped),
        usual.ask("/me", access),
        strict.ask("/me", untyped),
        strict.ask("/me", access),
      ]).then((answers) => answers.map(({ status }) => status)),
      [200, 200, 401, 200],
    );
  });

  it("decides without a cache of decisions, and remembers tokens all the same", async () => {
    const { ask, metrics } = await serviceOf({ "policies.cache_size": 0 });
    const token = await issuer.token({ sub: "u-1" });
    for (let time = 0; time < 3; time += 1) assert.equal((await ask("/me", [bearer(token)])).status, 200);
    const hits = (await metrics.cacheHits.get()).values;
    assert.deepEqual(
      ["tokens", "decisions"].map(
        (cache) => hits.find(({ labels }) => labels["cache"] === cache)?.value ?? 0,
      ),
      [2, 0],
    );
  });

  it("denies what must be recorded where the audit is off", async () => {
    await writeFile(join(directory, "policies/default.yaml"), `audit: required\n${POLICIES}`);
    const { ask } = await serviceOf({ "audit.enabled": false });
    assert.equal((await ask("/open")).status, 503);
    const recorded = await serviceOf();
    assert.equal((await recorded.ask("/open")).status, 200);
  });
});
