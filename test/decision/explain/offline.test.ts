import assert from "node:assert/strict";
import { createOriginCheck } from "../../../src/decision/decide/origin-check.ts";
import { explainOffline } from "../../../src/decision/explain/explain-offline.ts";
import { decideOffline, type OfflineRequest } from "../../../src/decision/explain/offline.ts";
import { createSnapshot } from "../../../src/decision/policies/snapshot.ts";
import { accessOf, compileText, outcome, snapshotOf, type RequestParts } from "../support.ts";

const POLICIES = `
attributes:
  target: { source: users, key: path.id }
policies:
  - { resource: "GET /users/{id}", condition: user.role == "admin" or user.dept == target.dept }
`;

describe("decision: offline", () => {
  const snapshot = snapshotOf(POLICIES);
  const decide = async (parts: RequestParts, more: Partial<OfflineRequest> = {}, set = snapshot) => {
    const { decision } = await decideOffline(set, {
      raw: accessOf(parts).raw,
      lookup: () => ({ dept: "sales" }),
      now: Date.UTC(2026, 0, 31, 12),
      ...more,
    });
    return decision;
  };

  it("decides for a caller whom it is told", async () => {
    const path = "/users/u-7";
    assert.equal(outcome(await decide({ path })), "DENY IDENTITY_REQUIRED");
    assert.equal(outcome(await decide({ path }, { user: {} })), "DENY CONDITION_UNKNOWN");
    assert.equal(outcome(await decide({ path }, { user: { role: "admin" } })), "ALLOW CONDITION_TRUE");
    const sales = { user: { id: "u-1", dept: "sales", role: "viewer" } };
    assert.equal(outcome(await decide({ path }, sales)), "ALLOW CONDITION_TRUE");
    assert.equal((await decide({ path }, sales)).identity?.userId, "u-1");
  });
  it("takes missing and failing look-ups as the gateway does", async () => {
    const user = { role: "viewer", dept: "sales" };
    const path = "/users/u-7";
    const missing = await decide({ path }, { user, lookup: () => undefined });
    assert.equal(outcome(missing), "DENY CONDITION_UNKNOWN");
    const failing = await decide(
      { path },
      {
        user,
        lookup: () => {
          throw new Error("no answer");
        },
      },
    );
    assert.equal(outcome(failing), "DENY CONDITION_UNKNOWN");
  });
  it("reads the customer, the client's address, the time and the environment", async () => {
    const set = (condition: string) =>
      snapshotOf(`policies:\n  - { resource: "GET /x", condition: '${condition}' }`);
    const expect = async (condition: string, more: Partial<OfflineRequest>) => {
      assert.equal(outcome(await decide({}, more, set(condition))), "ALLOW CONDITION_TRUE", condition);
    };
    await expect('customer.id == "c-1"', { user: {}, customer: { id: "c-1" } });
    await expect('request.client_ip == "127.0.0.1"', {});
    await expect('request.client_ip == "192.0.2.1"', { clientIp: "192.0.2.1" });
    await expect('env.time == "2026-01-31T12:00:00Z" and env.environment == "production"', {});
    await expect('env.environment == "staging"', { environment: "staging" });
  });
  it("trusts no header of a front proxy and accepts what is switched off", async () => {
    const headers = [["x-backend-url", "http://a.test"]] as const;
    assert.equal(outcome(await decide({ headers })), "DENY UNTRUSTED_PROXY_HEADER");
    const { decision: off, evaluation } = await decideOffline(
      createSnapshot(compileText("default: allow"), { caseSensitive: false }),
      {
        raw: accessOf({ path: "/a//b" }).raw,
        lookup: () => undefined,
        now: 0,
        settings: {
          frontProxy: { trustedProxies: [], backends: [] },
          accept: { switchedOff: new Set(["empty_segment"]) },
          environment: "production",
          limits: { response: 1, message: 1 },
        },
      },
    );
    assert.equal(outcome(off), "ALLOW DEFAULT_ALLOW");
    assert.deepEqual(off.accepted, ["empty_segment"]);
    assert.deepEqual(evaluation?.draft.accepted, ["empty_segment"]);
  });
  it("is explained with the host that a trusted proxy reports, as it is decided", async () => {
    const policies = `
policies:
  - { resource: "POST /x", condition: exists(user.id) }
  - { resource: "POST /h", condition: request.host == "app.example" and request.scheme == "https" }
`;
    const headers = [
      ["cookie", "sid=x"],
      ["origin", "https://app.example"],
      ["x-forwarded-host", "app.example"],
      ["x-forwarded-proto", "https"],
    ] as const;
    const explained = async (path: string) => {
      const { raw } = accessOf({ method: "POST", path, headers });
      const offline = await decideOffline(snapshotOf(policies), {
        raw: { ...raw, host: "internal.local" },
        user: { id: "u-1" },
        lookup: () => undefined,
        now: 0,
        settings: {
          frontProxy: { trustedProxies: ["127.0.0.1"], backends: [] },
          cookie: "sid",
          originCheck: createOriginCheck([]),
          accept: {},
          environment: "production",
          limits: { response: 1, message: 1 },
        },
      });
      const { readings } = offline.evaluation ?? {};
      const { evaluated } = await explainOffline(offline);
      const hosts = [readings?.request, ...(readings?.others ?? [])].map((reading) => reading?.host);
      return [outcome(offline.decision), evaluated.map(({ verdict }) => verdict), hosts];
    };
    const hosts = ["app.example", "internal.local"];
    assert.deepEqual(await explained("/x"), ["ALLOW CONDITION_TRUE", ["true"], hosts]);
    // with the Host that the proxy sent, the rule does not permit it
    assert.deepEqual(await explained("/h"), ["DENY CONDITION_FALSE", ["false"], hosts]);
  });
});
