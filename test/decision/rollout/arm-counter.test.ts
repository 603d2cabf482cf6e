import assert from "node:assert/strict";
import { callerOf } from "../../../src/decision/decide/rollout-arm.ts";
import { ArmCounter } from "../../../src/decision/rollout/arm-counter.ts";
import { addSamples, NO_DECISIONS, type ArmSample } from "../../../src/decision/rollout/arm-sample.ts";
import type { Snapshot } from "../../../src/decision/policies/snapshot.ts";
import type { Decision } from "../../../src/decision/types.ts";
import type { Identity } from "../../../src/identity/types.ts";
import { ruleOf, snapshotOf } from "../support.ts";

const CANDIDATE = snapshotOf(ruleOf("false", "version: candidate"));

function decisionFor(
  caller: { readonly user?: string; readonly customer?: string; readonly clientIp?: string },
  verdict: Decision["verdict"] = "DENY",
  set: Snapshot = CANDIDATE,
): Decision {
  const { user, customer, clientIp = "192.0.2.1" } = caller;
  const identity: Identity | undefined =
    user === undefined
      ? undefined
      : {
          ...{ user: { id: user }, userId: user, session: { amr: [] }, expiresAt: 0 },
          ...(customer !== undefined && { customer: { id: customer } }),
        };
  const facts = { clientIp, trustedPeer: false, accepted: [], snapshot: set };
  const arm = { name: "candidate", set } as const;
  return verdict === "DENY"
    ? { ...facts, arm, verdict, reason: "CONDITION_FALSE", ...(identity && { identity }) }
    : { ...facts, arm, verdict, reason: "CONDITION_TRUE", ...(identity && { identity }) };
}

describe("decision: counting the arms of a rollout", () => {
  const counted = (decisions: readonly (readonly [Decision, number])[]): ArmSample => {
    const counter = new ArmCounter(() => CANDIDATE.digest, callerOf);
    for (const [decision, ms] of decisions) counter.count(decision, ms);
    const { candidate } = counter.take()?.samples ?? { candidate: NO_DECISIONS };
    return candidate;
  };

  it("tells who is denied most and who waits longest, as hashes, and nobody else", () => {
    const { decisions, denials, heaviest } = counted([
      [decisionFor({ user: "noisy" }), 1],
      [decisionFor({ user: "noisy" }), 1],
      [decisionFor({ user: "noisy" }, "ALLOW"), 1],
      [decisionFor({ user: "patient" }, "ALLOW"), 50],
      [decisionFor({ user: "well" }, "ALLOW"), 1],
    ]);
    assert.deepEqual([decisions, denials], [5, 2]);
    assert.deepEqual(
      heaviest.map(({ caller, ...counts }) => [/^[\w-]{16}$/.test(caller), counts]),
      [
        [true, { decisions: 3, denials: 2, errors: 0, slow: 0 }],
        [true, { decisions: 1, denials: 0, errors: 0, slow: 1 }],
      ],
    );
  });

  it("goes by user and customer, or else by the network of the address", () => {
    const same = [decisionFor({ clientIp: "2001:db8::1" }), decisionFor({ clientIp: "2001:db8::2" })];
    assert.equal(counted(same.map((one) => [one, 1])).heaviest.length, 1);
    const different = [
      decisionFor({ user: "u", customer: "a" }),
      decisionFor({ user: "u", customer: "b" }),
      decisionFor({ user: "v", customer: "b" }),
      decisionFor({}),
      decisionFor({ clientIp: "192.0.2.2" }),
    ];
    assert.equal(counted(different.map((one) => [one, 1])).heaviest.length, 5);
  });

  it("adds callers up over workers and time, and keeps those who matter", () => {
    let sum = NO_DECISIONS;
    for (let second = 0; second < 60; second += 1) {
      const others = Array.from({ length: 100 }, (_, n) => decisionFor({ user: `u-${second}-${n}` }));
      const attacker = Array.from({ length: 20 }, () => decisionFor({ user: "attacker" }));
      sum = addSamples(sum, counted([...others, ...attacker].map((one) => [one, 1])));
    }
    assert.ok(sum.heaviest.length <= 32);
    const [first] = [...sum.heaviest].sort((a, b) => b.denials - a.denials);
    assert.deepEqual([sum.denials, first?.denials], [60 * 120, 60 * 20]);
  });
});
