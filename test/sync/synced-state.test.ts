import assert from "node:assert/strict";
import fc from "fast-check";
import { AppliedState, type SyncedState } from "../../src/sync/synced-state.ts";
import type { StateAnswer } from "../../src/protocol/index.ts";
import type { CustomerState } from "../../src/customer-state/index.ts";
import { ordinary } from "../support/fake-control-plane.ts";

const IDS = ["a", "b", "c", "d", "e"];
const SETS = ["s1", "s2", "s3"];
const UNTIL = "2100-01-01T00:00:00.000Z";

const some = <T>(values: readonly T[]) => fc.constantFrom(...values);
const standing: fc.Arbitrary<CustomerState> = fc.record({
  id: some(IDS),
  status: some(["active", "suspended", "archived", "deleted"] as const),
  authentication: fc.record(
    {
      mfa_required: fc.boolean(),
      max_session_duration: fc.nat(),
      allowed_email_domains: fc.constantFrom([], [["a.test"]]),
      allowed_ip_ranges: fc.constantFrom([], [["10.0.0.0/8"]]),
    },
    { requiredKeys: ["mfa_required", "allowed_email_domains", "allowed_ip_ranges"] },
  ),
  policy_sets: fc.array(some(SETS), { maxLength: 3 }),
});
const anyStanding = fc.oneof(standing, some(IDS).map(ordinary));

/** What somebody over there has done, in one commit. */
const change = fc.record({
  customers: fc.array(anyStanding, { maxLength: 3 }),
  sessions_ended: fc.array(fc.record({ session_id: some(IDS), until: fc.constant(UNTIL) }), { maxLength: 3 }),
  users: fc.array(
    fc.record({
      id: some(IDS),
      customer_id: fc.constant("cus_1"),
      status: some(["active", "suspended", "deleted"] as const),
    }),
    { maxLength: 3 },
  ),
  policy_sets: fc.array(
    fc.record({ name: some(SETS), version: some(["v1", "v2"]), digest: some(["0", "1"]) }),
    {
      maxLength: 3,
    },
  ),
});
type Change = Omit<StateAnswer, "cursor" | "complete">;

const answer = (changed: Change, cursor: number, complete = false): StateAnswer => ({
  cursor: String(cursor),
  complete,
  ...changed,
});

/** The whole state after these changes, as a list of all that was ever said, the last word on each. */
function wholeAfter(changes: readonly Change[]): Change {
  const last = <T>(items: readonly T[], key: (item: T) => string) => [
    ...new Map(items.map((item) => [key(item), item])).values(),
  ];
  return {
    customers: last(
      changes.flatMap(({ customers }) => customers),
      ({ id }) => id,
    ),
    sessions_ended: changes.flatMap(({ sessions_ended }) => sessions_ended),
    users: last(
      changes.flatMap(({ users }) => users),
      ({ id }) => id,
    ).filter(({ status }) => status !== "active"),
    policy_sets: last(
      changes.flatMap(({ policy_sets }) => policy_sets),
      ({ name }) => name,
    ),
  };
}

const observed = (state: SyncedState) => ({
  customers: IDS.map((id) => state.customer(id)),
  sessions: IDS.map((id) => state.sessionEnded(id)),
  users: IDS.map((id) => state.userStatus(id)),
  sets: SETS.map((name) => state.policySet(name)),
  named: [...state.namedPolicySets()].sort(),
});

describe("sync: customer states", () => {
  it("come to the same by a complete answer and any changes as by one complete answer at the end", () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 12 }), fc.nat(12), (changes, at) => {
        const split = Math.min(at, changes.length);
        let state = AppliedState.of(answer(wholeAfter(changes.slice(0, split)), split, true));
        for (const [n, changed] of changes.slice(split).entries()) {
          const before = observed(state);
          const next = state.after(answer(changed, split + n + 1));
          assert.deepEqual(observed(state), before, "the old one stays as it was");
          state = next;
        }
        const whole = AppliedState.of(answer(wholeAfter(changes), changes.length, true));
        assert.deepEqual(observed(state), observed(whole));
        assert.equal(state.cursor, whole.cursor === "0" ? "0" : whole.cursor);
        assert.equal(state.size, whole.size);
      }),
    );
  });

  it("say nothing of customers that are ordinary, and name exactly the sets that some customer names", () => {
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 8 }), (changes) => {
        const state = changes.reduce(
          (before, changed, n) => before.after(answer(changed, n)),
          AppliedState.of(answer(wholeAfter([]), 0, true)),
        );
        const last = wholeAfter(changes).customers;
        for (const one of last) {
          const isOrdinary = JSON.stringify(one) === JSON.stringify(ordinary(one.id));
          assert.deepEqual(state.customer(one.id), isOrdinary ? undefined : one);
        }
        assert.deepEqual(
          [...state.namedPolicySets()].sort(),
          [...new Set(last.flatMap(({ policy_sets }) => policy_sets))].sort(),
        );
      }),
    );
  });

  it("are ordinary for whoever was not mentioned", () => {
    const state = AppliedState.of(answer(wholeAfter([]), 0, true));
    for (const id of ["x", "__proto__", "constructor", ""]) {
      assert.equal(state.customer(id), undefined);
      assert.equal(state.sessionEnded(id), false);
      assert.equal(state.userStatus(id), "active");
      assert.equal(state.policySet(id), undefined);
    }
    assert.equal(state.size, 0);
  });

  it("know customers that were ever deleted by their ids, until one is said to be there again", () => {
    const gone = { ...answer(wholeAfter([]), 0, true), customers_deleted: ["a", "b"] };
    const state = AppliedState.of(gone);
    assert.deepEqual(state.customer("a"), { ...ordinary("a"), status: "deleted" });
    assert.equal(state.customer("c"), undefined);
    // a sign of nothing but another change does not bring it back
    assert.equal(state.after(answer(wholeAfter([]), 1)).customer("a")?.status, "deleted");
    const back = state.after(answer({ ...wholeAfter([]), customers: [ordinary("a")] }, 1));
    assert.deepEqual([back.customer("a"), back.customer("b")?.status], [undefined, "deleted"]);
  });

  it("keep the later of two times until which a session must be known", () => {
    const ended = (until: string) => ({
      ...wholeAfter([]),
      sessions_ended: [{ session_id: "s", until }],
    });
    const state = AppliedState.of(answer(ended("2030-01-01T00:00:00Z"), 0, true))
      .after(answer(ended("2031-01-01T00:00:00Z"), 1))
      .after(answer(ended("2029-01-01T00:00:00Z"), 2));
    assert.ok((state.forgettableAt("s") ?? 0) > Date.parse("2031-01-01T00:05:00Z"));
    assert.equal(state.forgetting(["s", "t"]).sessionEnded("s"), false);
    assert.equal(state.sessionEnded("s"), true);
  });
});
