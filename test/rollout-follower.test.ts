import assert from "node:assert/strict";
import type { Candidate } from "../src/decision/policies/release.ts";
import { NO_DECISIONS } from "../src/decision/rollout/arm-sample.ts";
import { RolloutFollower } from "../src/processes/gateway/follow-rollout.ts";
import type { CandidateTerms } from "../src/processes/gateway/publish-candidate.ts";
import type { RolloutReport, RolloutTermsData } from "../src/protocol/index.ts";
import type { StateChange } from "../src/sync/index.ts";
import { eventually } from "./support/eventually.ts";

const ARMS = { stable: NO_DECISIONS, candidate: NO_DECISIONS };
const rolloutOf = (changes: Partial<RolloutTermsData> = {}): RolloutTermsData => ({
  ...{ id: "rol_1", revision: 1, version: "v2", digest: "2".repeat(64) },
  ...{ mode: "enforce", percentage: 10, sticky_by: "user", guard: null },
  ...changes,
});

/** The order in which a gateway follows its own set and the rollout beside it, at every moment between two changes. */
describe("a gateway that follows a rollout of the control plane", () => {
  let active: { version: string; digest: string; rollout?: RolloutTermsData | undefined } | undefined;
  let known: boolean;
  let stable: string | undefined;
  let followed: string[];
  let failing: boolean;
  /** A candidate in a folder has precedence. */
  let hasOwn: boolean;
  let refresh: () => void;
  let reports: RolloutReport[];
  let current: CandidateTerms | undefined;
  let tell: (change: Pick<StateChange, "complete" | "policySets">) => void;
  let follower: RolloutFollower;
  const versions = new Map<string, string>();

  beforeEach(async () => {
    [active, known, stable] = [{ version: "v1", digest: "1".repeat(64) }, true, "main@v1"];
    [followed, failing, reports, current, hasOwn] = [[], false, [], undefined, false];
    refresh = () => undefined;
    follower = new RolloutFollower(
      { policySet: "main", gateway: "one" },
      {
        client: {
          policySetVersion: () => Promise.resolve(undefined),
          rolloutReport: (report) => {
            reports.push(report);
            return Promise.resolve({ running: true, report_after_ms: 60_000 });
          },
        },
        feed: {
          get current() {
            const feed = { policySet: (name: string) => (name === "main" ? active : undefined) };
            return known ? (feed as never) : undefined;
          },
          onChange: (listener) => {
            tell = listener as typeof tell;
            return () => undefined;
          },
        },
        inForce: () => ({
          stable: stable === undefined ? undefined : { label: stable },
          candidate: current && ({ set: { label: versions.get(current.key) } } as unknown as Candidate),
        }),
        follow: (terms) => {
          if (failing) return Promise.reject(new Error("a worker cannot load it"));
          current = terms;
          assert.notEqual(terms?.retry, true);
          followed.push(terms === undefined ? "none" : `${terms.key} ${terms.settings.percentage}`);
          return Promise.resolve();
        },
        refresh: () => {
          refresh();
          return Promise.resolve();
        },
        progress: (rollout) =>
          hasOwn || current?.rollout !== rollout
            ? undefined
            : { samples: ARMS, totals: ARMS, shadow: null, taken_back: null },
        log: { info: () => undefined, warn: () => undefined, error: () => undefined },
      },
    );
    await follower.start();
  });
  afterEach(() => {
    follower.close();
  });

  async function change(rollout: RolloutTermsData | undefined, version = "v1"): Promise<void> {
    if (rollout !== undefined) versions.set(rollout.id, `main@${rollout.version}`);
    active = { version, digest: version, rollout };
    tell({ complete: false, policySets: ["main"] });
    await new Promise((resolve) => setImmediate(resolve));
  }
  async function loads(version: string): Promise<void> {
    stable = `main@${version}`;
    follower.lookAgain();
    await new Promise((resolve) => setImmediate(resolve));
  }

  it("begins, follows each change, and ends", async () => {
    await change(rolloutOf());
    await change(rolloutOf({ revision: 2, percentage: 50 }));
    await change(undefined);
    assert.deepEqual(followed, ["rol_1 10", "rol_1 50", "none"]);
  });

  it("begins only beside the version that is active", async () => {
    await change(rolloutOf({ id: "rol_2", version: "v3" }), "v2");
    assert.deepEqual(followed, []);
    await loads("v2");
    assert.deepEqual(followed, ["rol_2 10"]);
  });

  it("keeps a candidate that was promoted until its own set is the same", async () => {
    await change(rolloutOf());
    await change(undefined, "v2");
    assert.deepEqual(followed, ["rol_1 10"], "its callers would get the version before");
    await loads("v2");
    assert.deepEqual(followed, ["rol_1 10", "none"]);
  });

  it("goes from one that was promoted to a later version while it was away without the version before", async () => {
    await change(rolloutOf());
    refresh = () => {
      assert.deepEqual(followed, ["rol_1 10"]);
      stable = "main@v3";
    };
    await change(undefined, "v3");
    assert.deepEqual([stable, followed], ["main@v3", ["rol_1 10", "none"]]);
  });

  it("takes a candidate back at once where its own set is the active version, and in any case if no other can be loaded", async () => {
    await change(rolloutOf());
    let asked = 0;
    refresh = () => (asked += 1);
    await change(undefined);
    assert.deepEqual([asked, followed], [0, ["rol_1 10", "none"]]);
    await change(rolloutOf({ id: "rol_2" }));
    await change(undefined, "v3");
    assert.deepEqual([asked, followed.slice(2)], [1, ["rol_2 10", "none"]]);
  });

  it("goes from one that was promoted to the next in this order", async () => {
    await change(rolloutOf());
    await change(rolloutOf({ id: "rol_2", version: "v3" }), "v2");
    assert.deepEqual(followed, ["rol_1 10"]);
    await loads("v2");
    assert.deepEqual(followed, ["rol_1 10", "none", "rol_2 10"]);
  });

  it("ends one that was aborted at once, also if its own set cannot be loaded", async () => {
    await change(rolloutOf());
    await change(undefined, "v9");
    assert.deepEqual(followed, ["rol_1 10", "none"]);
    await change(rolloutOf({ id: "rol_2", version: "v10" }), "v9");
    assert.deepEqual(followed, ["rol_1 10", "none"]);
  });

  it("ends when its set is gone, as after a reset of the sandbox", async () => {
    await change(rolloutOf());
    active = undefined;
    tell({ complete: true, policySets: [] });
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(followed, ["rol_1 10", "none"]);
  });

  it("keeps what it has while the state is not known", async () => {
    await change(rolloutOf());
    known = false;
    await change(undefined);
    assert.deepEqual(followed, ["rol_1 10"]);
  });

  it("never tries one again that its guard has taken back, and says so at once", async () => {
    await change(rolloutOf());
    follower.takenBack("rol_1");
    await eventually("the report", () => reports.length > 0);
    await change(rolloutOf({ revision: 2, percentage: 100 }));
    await change(undefined);
    await change(rolloutOf({ revision: 3 }));
    assert.deepEqual(followed, ["rol_1 10", "none"]);
    assert.deepEqual([reports[0]?.rollout, reports[0]?.gateway], ["rol_1", "one"]);
    await change(rolloutOf({ id: "rol_2" }));
    assert.deepEqual(followed, ["rol_1 10", "none", "rol_2 10"]);
  });

  it("reports nothing of what a candidate in a folder does", async () => {
    await change(rolloutOf());
    await eventually("a report", () => reports.length === 1);
    hasOwn = true;
    follower.takenBack("rol_1");
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(reports.length, 1);
  });

  it("wants a candidate no more whose rollout has changed while it was loaded", async () => {
    await change(rolloutOf());
    const isWanted = (terms: CandidateTerms | undefined) => terms?.isWanted?.();
    const first = current;
    assert.equal(isWanted(first), true);
    await change(rolloutOf({ revision: 2, percentage: 0 }));
    assert.deepEqual([isWanted(first), isWanted(current)], [false, true]);
    const second = current;
    await change(undefined);
    assert.equal(isWanted(second), false);
    known = false;
    assert.equal(isWanted(second), true, "what is not known ends nothing");
  });

  it("reports the terms that are in force, not those that could not be published", async () => {
    await change(rolloutOf());
    failing = true;
    await change(rolloutOf({ revision: 2, percentage: 50 }));
    follower.takenBack("rol_1");
    await eventually("the report", () => reports.length > 0);
    assert.equal(reports[0]?.revision, 1);
  });
});
