import assert from "node:assert/strict";
import { Backlog } from "../../src/extauthz/backlog.ts";

/** A backlog by a clock and a load that are set, and what it says of a check that has waited for so long. */
function subject() {
  const state = { now: 1_000, utilization: 1, asked: 0 };
  const backlog = new Backlog({
    clock: () => 1_800_000_000_000 + state.now,
    stopwatch: () => state.now,
    utilization: () => {
      state.asked += 1;
      return state.utilization;
    },
  });
  const take = (waited: number) => backlog.take(1_800_000_000_000 + state.now - waited);
  /** Checks that have waited for so long, for `ms`. */
  const during = (ms: number, ...waits: readonly number[]) => {
    const end = state.now + ms;
    let said: boolean[] = [];
    while (state.now < end) {
      said = waits.map(take);
      state.now += 10;
    }
    return said.at(-1);
  };
  return { state, take, during };
}

describe("extauthz: backlog", () => {
  it("is there when all checks have waited for a while, and gone when one has not", () => {
    const { take, during } = subject();
    assert.equal(during(100, 200), false, "not before a while has passed");
    assert.equal(take(200), true);
    assert.equal(during(90, 200, 3), true, "until the next look");
    assert.equal(during(20, 3), false);
  });

  const cases: readonly [title: string, waits: readonly number[], utilization: number, backlog: boolean][] = [
    ["checks in time", [1, 2, 5], 1, false],
    ["checks that are a little late", [199], 1, false],
    ["late checks", [200, 500], 1, true],
    ["one in time among late ones, which came in slowly", [500, 500, 2, 500], 1, false],
    ["late checks in a process that rests: another clock", [60_000], 0.49, false],
    ["checks from the future: another clock", [-60_000], 1, false],
  ];
  for (const [title, waits, utilization, expected] of cases) {
    it(`${title}: ${expected ? "yes" : "no"}`, () => {
      const { state, take, during } = subject();
      state.utilization = utilization;
      during(200, ...waits);
      assert.equal(take(waits[0]!), expected);
    });
  }

  it("goes on while requests are turned away, which is less work, until there is hardly any", () => {
    const { state, take, during } = subject();
    during(200, 300);
    state.utilization = 0.2;
    during(200, 300);
    assert.equal(take(300), true);
    state.utilization = 0.19;
    during(200, 300);
    assert.equal(take(300), false);
  });

  it("is forgotten when nothing came for a while", () => {
    const { state, take, during } = subject();
    during(200, 300);
    state.now += 10_000;
    state.utilization = 0.1;
    assert.equal(take(300), false);
  });

  it("is not seen before there were checks to see it by", () => {
    assert.equal(subject().take(1_000), false);
  });

  it("is looked at ten times per second at most, and not at all without checks", () => {
    const { state, during } = subject();
    during(1_000, 1, 1, 1);
    assert.equal(state.asked, 10);
    state.now += 60_000;
    assert.equal(state.asked, 10);
  });

  it("is measured by the process itself where nothing else is said", () => {
    const backlog = new Backlog();
    assert.equal(backlog.take(Date.now()), false);
  });
});
