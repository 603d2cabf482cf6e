import assert from "node:assert/strict";
import type { KnownState } from "../../../src/decision/decide/check-session.ts";
import { armOf, callerOf, positionOf } from "../../../src/decision/decide/rollout-arm.ts";
import type { Candidate, StickyKey } from "../../../src/decision/policies/release.ts";
import { DecisionPoint } from "../../../src/decision/point/index.ts";
import { auditRecord } from "../../../src/decision/point/record.ts";
import type { Snapshot } from "../../../src/decision/policies/snapshot.ts";
import type { Identity } from "../../../src/identity/types.ts";
import { createMetrics } from "../../../src/telemetry/metrics.ts";
import { accessOf, bearer, deciderOf, ruleOf, silent, snapshotOf, useIssuer } from "../support.ts";

const USERS = 1_000;

function identityOf(userId: string, customerId?: string): Identity {
  return {
    user: { id: userId },
    ...(customerId !== undefined && { customer: { id: customerId } }),
    userId,
    session: { amr: [] },
    expiresAt: 0,
  };
}

/** The set, of which every evaluation fails. */
function brokenOf(set: Snapshot): Snapshot {
  const match = () => {
    throw new TypeError("broken on purpose");
  };
  return { ...set, matcher: { ...set.matcher, match } };
}

describe("decision: the arms of a rollout", () => {
  const stable = snapshotOf(ruleOf("true", "version: stable"));
  const candidate = snapshotOf(ruleOf("false", "version: candidate"));
  const releaseOf = (
    percentage: number,
    stickyBy: StickyKey = "user",
    mode: Candidate["mode"] = "enforce",
  ) => ({
    main: stable,
    candidate: { set: candidate, mode, percentage, stickyBy },
    customers: new Map<string, Snapshot>(),
  });
  const inCandidate = (
    percentage: number,
    caller: { identity?: Identity | undefined; clientIp?: string },
    stickyBy?: StickyKey,
  ) =>
    armOf(releaseOf(percentage, stickyBy), { identity: undefined, clientIp: "192.0.2.1", ...caller })
      ?.name === "candidate";

  it("divides 1,000 users as the percentage says, and nobody goes back when it rises", () => {
    const users = Array.from({ length: USERS }, (_, n) => identityOf(`user-${n}`));
    let before = new Set<Identity>();
    for (const percentage of [0, 1, 10, 50, 100]) {
      const now = new Set(users.filter((identity) => inCandidate(percentage, { identity })));
      // four standard deviations of a binomial distribution
      const share = percentage / 100;
      const spread = 4 * Math.sqrt(USERS * share * (1 - share));
      assert.ok(Math.abs(now.size - USERS * share) <= spread, `${now.size} of ${USERS} at ${percentage} %`);
      assert.deepEqual(
        [...before].filter((user) => !now.has(user)),
        [],
      );
      before = now;
    }
    assert.equal(before.size, USERS);
  });

  it("spreads evenly: each tenth of the range has about a tenth of the keys", () => {
    const tenths = Array.from({ length: 10 }, () => 0);
    for (let n = 0; n < 10_000; n += 1)
      tenths[Math.floor(positionOf("default", ["user", "", `u${n}`]) / 10)]! += 1;
    for (const count of tenths) assert.ok(Math.abs(count - 1_000) <= 4 * Math.sqrt(900), String(tenths));
  });

  it("gives a caller the same arm whatever else of the request differs", () => {
    const users = Array.from({ length: 100 }, (_, n) => identityOf(`user-${n}`, "c-1"));
    for (const identity of users) {
      const arms = ["192.0.2.1", "192.0.2.2", "2001:db8::1"].map((clientIp) =>
        inCandidate(50, { identity, clientIp }),
      );
      assert.equal(new Set(arms).size, 1);
    }
    const byCustomer = users.map((identity) => inCandidate(50, { identity }, "customer"));
    assert.equal(new Set(byCustomer).size, 1, "users of one customer have one arm");
  });

  it("goes by the network of the client where the key is missing", () => {
    const addresses = Array.from({ length: 200 }, (_, n) => `2001:db8:0:${n.toString(16)}::1`);
    const byAddress = addresses.map((clientIp) => inCandidate(50, { clientIp }));
    assert.equal(new Set(byAddress).size, 2, "anonymous callers are divided, too");
    const neighbours = addresses.map((address) =>
      inCandidate(50, { clientIp: address.replace("::1", "::f:2") }),
    );
    assert.deepEqual(neighbours, byAddress, "an IPv6 client may use any address of its /64");
    const same = addresses.map((clientIp) =>
      inCandidate(50, { clientIp, identity: identityOf("u") }, "client_ip"),
    );
    assert.deepEqual(same, byAddress, "by address, whoever it is");
    const noCustomer = addresses.map((clientIp) =>
      inCandidate(50, { clientIp, identity: identityOf("u") }, "customer"),
    );
    assert.deepEqual(noCustomer, byAddress);
  });

  it("is the stable set for a caller of whom nothing is known, until the candidate decides for all", () => {
    assert.equal(inCandidate(99, { clientIp: "" }), false);
    assert.equal(inCandidate(100, { clientIp: "" }), true);
  });

  it("is nobody's in shadow mode, whatever the percentage", () => {
    const caller = { identity: identityOf("u"), clientIp: "192.0.2.1" };
    assert.equal(armOf(releaseOf(100, "user", "shadow"), caller), undefined);
  });

  describe("a decision", () => {
    const from = useIssuer();

    /** Decides by a release that can be changed. */
    const decidesBy = (policies: () => ReturnType<typeof releaseOf>) =>
      deciderOf(undefined, { verifier: from.verifier, policies });

    it("is that of the caller's arm, and its record names arm and digest", async () => {
      let percentage = 10;
      const decide = decidesBy(() => releaseOf(percentage));
      const tokens = await Promise.all(
        Array.from({ length: 50 }, (_, n) => from.token({ sub: `user-${n}` })),
      );
      const seen = new Map<string, number>();
      for (percentage of [10, 50, 100])
        for (const token of tokens) {
          const access = accessOf({ headers: [bearer(token)] });
          const decision = await decide(access);
          const record = auditRecord(decision, { access, at: 0 }, 0, false);
          const key = `${record.rollout_arm} ${record.policy_set} ${record.policy_digest} ${record.decision}`;
          seen.set(key, (seen.get(key) ?? 0) + 1);
        }
      assert.deepEqual([...seen.keys()].sort(), [
        `candidate test@candidate ${candidate.digest} DENY`,
        `stable test@stable ${stable.digest} ALLOW`,
      ]);
    });

    it("on which no set has a say is of no arm, so it counts for neither", async () => {
      const ended = {
        customer: () => undefined,
        sessionEnded: () => true,
        userStatus: () => "active" as const,
      };
      const token = await from.token({ sub: "user-1", sid: "ses_1" });
      for (const [why, parts, headers] of [
        ["an invalid token", {}, [bearer("no.such.token")]],
        ["an ended session", { controlPlane: { state: () => ended } }, [bearer(token)]],
      ] as const) {
        const decide = deciderOf(undefined, {
          ...{ verifier: from.verifier, policies: () => releaseOf(100) },
          ...parts,
        });
        const { verdict, arm, snapshot } = await decide(accessOf({ headers }));
        assert.deepEqual([verdict, arm, snapshot?.label], ["DENY", undefined, stable.label], why);
      }
    });

    it("is that of the same arm while the state of the caller is unknown", async () => {
      let state: KnownState | undefined;
      const decide = deciderOf(undefined, {
        ...{ verifier: from.verifier, policies: () => releaseOf(50) },
        controlPlane: { state: () => state },
      });
      const known: KnownState = {
        customer: () => undefined,
        sessionEnded: () => false,
        userStatus: () => "active",
      };
      for (let n = 0; n < 20; n += 1) {
        const access = accessOf({ headers: [bearer(await from.token({ sub: `user-${n}` }))] });
        const arms: unknown[] = [];
        for (state of [known, undefined]) arms.push((await decide(access)).arm?.name);
        const expected = positionOf("test", ["user", "", `user-${n}`]) < 50 ? "candidate" : "stable";
        assert.deepEqual(arms, [expected, expected], `user-${n}`);
      }
    });

    it("that fails is a denial whose record names the candidate", async () => {
      const broken = brokenOf(candidate);
      const decide = decidesBy(() => ({
        ...releaseOf(100),
        candidate: { ...releaseOf(100).candidate, set: broken },
      }));
      const concluded: unknown[] = [];
      const point = new DecisionPoint({
        decide,
        snapshot: () => stable,
        audit: { record: () => true } as never,
        metrics: createMetrics(),
        log: { error: silent },
        concluded: ({ arm, reason }) => concluded.push([arm?.name, reason]),
      });
      const access = accessOf();
      const decision = await point.decide(access);
      const record = auditRecord(decision, { access, at: 0 }, 0, false);
      assert.deepEqual(
        [record.decision, record.reason, record.rollout_arm, record.policy_digest, record.detail],
        ["DENY", "INTERNAL_ERROR", "candidate", candidate.digest, "TypeError"],
      );
      await point.conclude(decision, { access, at: 0 }, Number.POSITIVE_INFINITY, 0);
      assert.deepEqual(concluded, [["candidate", "INTERNAL_ERROR"]]);
    });

    it("that fails counts for its caller, not for the proxy in front of all of them", async () => {
      const decide = decidesBy(() => ({
        ...releaseOf(100),
        candidate: { ...releaseOf(100).candidate, set: brokenOf(candidate) },
      }));
      const behindProxy = deciderOf(undefined, {
        ...{ verifier: from.verifier, frontProxy: { trustedProxies: ["192.0.2.0/24"], backends: [] } },
        policies: () => ({
          ...releaseOf(100),
          candidate: { ...releaseOf(100).candidate, set: brokenOf(candidate) },
        }),
      });
      const callers = new Set<string>();
      for (let n = 1; n <= 5; n += 1)
        for (const [by, header] of [
          [decide, bearer(await from.token({ sub: `user-${n}` }))],
          [behindProxy, ["x-forwarded-for", `198.51.100.${n}`]],
        ] as const) {
          const point = new DecisionPoint({
            decide: by,
            snapshot: () => stable,
            audit: { record: () => true } as never,
            metrics: createMetrics(),
            log: { error: silent },
          });
          const decision = await point.decide(accessOf({ peer: "192.0.2.7", headers: [header] }));
          assert.equal(decision.reason, "INTERNAL_ERROR");
          callers.add(callerOf(decision));
        }
      assert.equal(callers.size, 10, [...callers].join(" "));
    });
  });
});
