import assert from "node:assert/strict";
import { DecisionPoint } from "../../../src/decision/point/decision-point.ts";
import type { KnownState } from "../../../src/decision/decide/check-session.ts";
import type { Snapshot } from "../../../src/decision/policies/snapshot.ts";
import type { RunningTokenVerifier } from "../../../src/identity/index.ts";
import { createMetrics } from "../../../src/telemetry/metrics.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import { accessOf, bearer, deciderOf, outcome, silentLog, snapshotOf, verifierFor } from "../support.ts";

const rule = (audit: string) => `policies:\n  - { resource: "GET /x", condition: exists(user.id)${audit} }\n`;
const NOBODY_ASKED = snapshotOf(rule(""));

describe("review: a record that a customer's own policy set requires", () => {
  let issuer: TestIssuer;
  let verifier: RunningTokenVerifier;

  before(async () => {
    issuer = await startIssuer();
    verifier = verifierFor(issuer);
    await verifier.start();
  });
  after(async () => {
    verifier.close();
    await issuer.close();
  });

  const standings: KnownState = {
    customer: (id) => ({
      id,
      status: "active",
      authentication: { mfa_required: false, allowed_email_domains: [], allowed_ip_ranges: [] },
      policy_sets: ["first", "second"],
    }),
    sessionEnded: () => false,
    userStatus: () => "active",
  };

  /** What comes of a request while the audit takes nothing. */
  const conclude = async (sets: Readonly<Record<string, Snapshot>>) => {
    const decide = deciderOf(NOBODY_ASKED, {
      verifier,
      sets,
      following: { state: () => standings },
    });
    const point = new DecisionPoint({
      decide,
      snapshot: () => NOBODY_ASKED,
      audit: {
        wantsTrace: false,
        accepting: () => false,
        record: () => false,
        recordDurably: () => undefined,
        recordRefusal: () => false,
        flush: () => Promise.resolve(),
        close: () => Promise.resolve(),
      },
      metrics: createMetrics(),
      log: silentLog,
    });
    const token = await issuer.token({ customer_id: "cus_1" });
    const access = accessOf({ headers: [bearer(token)] });
    const judged = await point.judge(access);
    return outcome(
      await point.conclude(judged, { access, at: Date.now() }, access.deadline, performance.now()),
    );
  };

  const relaxed = snapshotOf(`version: v1\n${rule("")}`);
  const cases: [name: string, sets: Record<string, Snapshot>, expected: string][] = [
    ["none does", { first: relaxed, second: relaxed }, "ALLOW CONDITION_TRUE"],
    [
      "a rule of the first does",
      { first: snapshotOf(rule(", audit: required")), second: relaxed },
      "DENY AUDIT_UNAVAILABLE",
    ],
    [
      "the whole second does",
      { first: relaxed, second: snapshotOf(`audit: required\n${rule("")}`) },
      "DENY AUDIT_UNAVAILABLE",
    ],
  ];
  for (const [name, sets, expected] of cases) {
    it(`${name}: ${expected}, where the audit takes none`, async () => {
      assert.equal(await conclude(sets), expected);
    });
  }
});
