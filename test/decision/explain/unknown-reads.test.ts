import assert from "node:assert/strict";
import { decideOffline, type OfflineRequest } from "../../../src/decision/explain/offline.ts";
import { auditRecord } from "../../../src/decision/point/record.ts";
import { HANDSHAKE_HEADERS } from "../../../src/policy/suite/index.ts";
import { accessOf, bearer, deciderOf, snapshotOf, useIssuer, type RequestParts } from "../support.ts";

const snapshot = snapshotOf(`
attributes:
  target: { source: people, key: path.id }
policies:
  - { resource: "GET /people/{id}", condition: user.department == target.department }
  - { resource: GET /query, condition: user.id == request.query.owner }
  - { resource: GET /types, condition: user.age > 17 or user.role == "admin" }
  - { resource: POST /body, condition: user.tier == "gold" and request.body.total < 10 }
  - { resource: GET /false, condition: user.role == "admin" and user.tier == "gold" }
websocket_policies:
  - connection: { path: /ws, condition: user.tier == "gold" }
`);

describe("decision: what a record says of a condition that is unknown", () => {
  const idp = useIssuer();
  let token: string;
  before(async () => {
    token = await idp.token();
  });

  const recordOf = async (parts: RequestParts, more: Partial<OfflineRequest> = {}) => {
    const access = accessOf(parts);
    const { decision } = await decideOffline(snapshot, {
      raw: access.raw,
      user: { id: "u-1", role: "viewer", department: "sales" },
      lookup: () => ({ department: "sales" }),
      now: 0,
      ...more,
    });
    const { reason, unknown, trace } = auditRecord(decision, { access, at: 0 }, 1, false);
    assert.equal(trace, undefined);
    return [reason, ...(unknown ?? [])];
  };

  it("names what is missing", async () => {
    assert.deepEqual(await recordOf({ path: "/people/7" }, { user: { id: "u-1" } }), [
      "CONDITION_UNKNOWN",
      "user.department: missing",
    ]);
    assert.deepEqual(await recordOf({ path: "/people/7" }, { lookup: () => ({}) }), [
      "CONDITION_UNKNOWN",
      "target.department: missing",
    ]);
  });

  it("tells a source that has no entry from one that failed", async () => {
    assert.deepEqual(await recordOf({ path: "/people/7" }, { lookup: () => undefined }), [
      "CONDITION_UNKNOWN",
      "target.department: missing, source people has no entry for path.id",
    ]);
    const lookup = () => {
      throw new Error("away");
    };
    assert.deepEqual(await recordOf({ path: "/people/7" }, { lookup }), [
      "CONDITION_UNKNOWN",
      "target.department: unavailable, source people failed or is not configured",
    ]);
  });

  it("names what was sent several times, and what is of another type, without values", async () => {
    assert.deepEqual(await recordOf({ path: "/query?owner=u-1&owner=u-2" }), [
      "CONDITION_UNKNOWN",
      "request.query.owner: sent several times, but a single value is compared",
    ]);
    assert.deepEqual(
      await recordOf({ path: "/types" }, { user: { id: "u-1", age: "18", role: ["admin"] } }),
      [
        "CONDITION_UNKNOWN",
        "user.age: a string, which cannot be compared here",
        "user.role: a list, which cannot be compared here",
      ],
    );
  });

  it("does not blame a body that was read, nor one that nobody had to look at", async () => {
    const headers = [["content-type", "application/json"]] as const;
    assert.deepEqual(await recordOf({ method: "POST", path: "/body", body: '{"total":5}', headers }), [
      "CONDITION_UNKNOWN",
      "user.tier: missing",
    ]);
    const denied = await deciderOf(snapshot, { verifier: idp.verifier, sources: new Map() })({
      ...accessOf({ method: "POST", path: "/body", body: null, headers: [...headers, bearer(token)] }),
      bodies: "on_request",
    });
    assert.equal(denied.reason, "CONDITION_UNKNOWN");
    const { unknown } = auditRecord(denied, { access: undefined, at: 0 }, 1, false);
    assert.deepEqual(unknown, ["user.tier: missing", "request.body.total: not examined"]);
  });

  it("names what a handshake's condition lacked", async () => {
    assert.deepEqual(await recordOf({ path: "/ws", headers: HANDSHAKE_HEADERS }), [
      "CONDITION_UNKNOWN",
      "user.tier: missing",
    ]);
  });

  it("says nothing of it where the condition is decided, or where to sign in is the answer", async () => {
    assert.deepEqual(await recordOf({ path: "/people/7" }), ["CONDITION_TRUE"]);
    assert.deepEqual(await recordOf({ path: "/false" }), ["CONDITION_FALSE"]);
    assert.deepEqual(await recordOf({ path: "/nowhere" }), ["NO_MATCHING_RULE"]);
    const access = accessOf({ path: "/false" });
    const { decision } = await decideOffline(snapshot, { raw: access.raw, lookup: () => ({}), now: 0 });
    assert.equal(decision.reason, "IDENTITY_REQUIRED");
    assert.equal(auditRecord(decision, { access, at: 0 }, 1, false).unknown, undefined);
  });
});
