import assert from "node:assert/strict";
import { allow, deny, denyPermitted } from "../../src/decision/decide/evaluation-context.ts";
import type { Decision, Denial, Draft, Permit } from "../../src/decision/types.ts";
import { REASONS, type DenialReason, type PermitReason, type Reason } from "../../src/reasons.ts";

const DRAFT: Draft = { clientIp: "127.0.0.1", trustedPeer: false, accepted: [] };
const PLAN = { ir: 1, preflight: true } as const;
const PERMIT: Permit = { ...allow(DRAFT, "CONDITION_TRUE"), plan: PLAN, alsoRead: [] };

describe("decision: a decision is a permit or a denial", () => {
  it("and a permit that becomes a denial leaves what only a permit has behind", () => {
    const denial = denyPermitted(PERMIT, "PLAN_NOT_ENFORCEABLE");
    assert.deepEqual(denial, { ...DRAFT, verdict: "DENY", reason: "PLAN_NOT_ENFORCEABLE" });
  });

  it("and the compiler knows no third", () => {
    const impossible = (): readonly Decision[] => {
      // @ts-expect-error a denial has no plan, not even by a spread
      const withPlan: Denial = { ...PERMIT, verdict: "DENY", reason: "CONDITION_FALSE" };
      // @ts-expect-error nor is a permit a draft of one
      const ofPermit = deny(PERMIT, "CONDITION_FALSE");
      // @ts-expect-error a permit has no reason to deny
      const withReason: Permit = { ...DRAFT, verdict: "ALLOW", reason: "CONDITION_FALSE" };
      // @ts-expect-error nor what a denied operation is told
      const withErrors: Permit = { ...PERMIT, graphqlErrors: [] };
      // @ts-expect-error a denial has no reason to permit
      return [withPlan, ofPermit, withReason, withErrors, deny(DRAFT, "DEFAULT_ALLOW")];
    };
    assert.equal(typeof impossible, "function");
  });

  it("by the status of its reason", () => {
    const permits = {
      CONDITION_TRUE: true,
      DEFAULT_ALLOW: true,
      PREFLIGHT_ALLOWED: true,
      GRAPHQL_CONNECTION: true,
      CONNECTION_HELD: true,
      GRAPHQL_ALLOWED: true,
    } as const satisfies Record<PermitReason, true>;
    for (const reason of Object.keys(REASONS) as Reason[]) {
      const refuses: boolean = REASONS[reason].status !== 200;
      assert.equal(refuses, !(reason in permits), reason);
    }
    // @ts-expect-error a reason is of one kind
    const both: DenialReason & PermitReason = "CONDITION_TRUE";
    assert.ok(both in permits);
  });
});
