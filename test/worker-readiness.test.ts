import assert from "node:assert/strict";
import type { CheckStatus } from "../src/telemetry/check-status.ts";
import { isReadyWorkers, takesRequests, WorkerReadiness } from "../src/processes/gateway/worker-readiness.ts";

const good = (detail = "fine"): CheckStatus => ({ ok: true, detail });
const bad = (detail: string): CheckStatus => ({ ok: false, detail });

describe("readiness of workers", () => {
  describe("whether a worker takes requests", () => {
    const ready = { policies: good(), issuer_keys: good() };
    const noKeys = { policies: good(), issuer_keys: bad("cannot resolve login.example.com") };
    const noPolicies = { policies: bad("none"), issuer_keys: good() };
    for (const [what, checks, started, anyReady, takes] of [
      ["it is ready", ready, true, true, true],
      ["it is ready before anything is known of the others", ready, false, undefined, true],
      ["it has no keys and none is ready", noKeys, true, false, true],
      ["it has no keys and another one is ready", noKeys, true, true, false],
      ["it has no keys and nothing is known of the others", noKeys, true, undefined, false],
      ["it has no keys yet", noKeys, false, false, false],
      ["it has no policies", noPolicies, true, false, false],
      ["it has no policies, and another one is ready", noPolicies, true, true, false],
    ] as const) {
      it(`${takes ? "it does" : "it does not"} where ${what}`, () => {
        assert.equal(takesRequests(checks, started, anyReady), takes);
      });
    }
  });

  describe("as the supervisor sees it", () => {
    const boardOf = (count: number) => {
      const told: boolean[] = [];
      const board = new WorkerReadiness(count, (message) => {
        assert.ok(isReadyWorkers(message));
        told.push(message.any);
      });
      const report = (worker: number, checks: Readonly<Record<string, CheckStatus>>) =>
        board.take(worker, { type: "readiness", checks });
      return { board, report, told };
    };

    it("tells workers whether one is ready: when that changes, and when one of them is new", () => {
      const { board, report, told } = boardOf(2);
      report(0, { policies: bad("none") });
      report(1, { policies: bad("none") });
      assert.deepEqual(told.splice(0), [false, false]);
      report(0, { policies: good() });
      assert.deepEqual(told.splice(0), [true]);
      report(1, { policies: good() });
      report(0, { policies: bad("none") });
      assert.deepEqual(told.splice(0), []);
      board.ended(1);
      assert.deepEqual(told.splice(0), [false]);
      report(1, { policies: bad("none") });
      assert.deepEqual(told.splice(0), [false]);
    });

    it("says of each check how it is, and for which workers where they differ", () => {
      const { board, report } = boardOf(3);
      assert.deepEqual(board.checks(), { workers: bad("0 of 3 are ready") });
      report(0, { policies: good("main@v1 is in force"), issuer_keys: bad("cannot resolve a") });
      assert.deepEqual(board.checks(), {
        workers: bad("0 of 3 are ready"),
        policies: good("worker 0: main@v1 is in force"),
        issuer_keys: bad("worker 0: cannot resolve a"),
      });
      report(1, { policies: good("main@v1 is in force"), issuer_keys: good("2 keys") });
      report(2, { policies: good("main@v1 is in force"), issuer_keys: bad("cannot resolve a") });
      assert.deepEqual(board.checks(), {
        workers: bad("1 of 3 are ready"),
        policies: good("main@v1 is in force"),
        issuer_keys: bad("worker 0: cannot resolve a; worker 2: cannot resolve a"),
      });
      for (const worker of [0, 1, 2])
        report(worker, { policies: good("main@v1 is in force"), issuer_keys: good("2 keys") });
      assert.deepEqual(board.checks(), {
        workers: good("3 of 3 are ready"),
        policies: good("main@v1 is in force"),
        issuer_keys: good("2 keys"),
      });
      assert.equal(board.ready, 3);
    });

    it("leaves messages about other things alone", () => {
      const { board } = boardOf(1);
      for (const message of [undefined, null, "readiness", {}, { type: "release_wanted", life: "a" }])
        assert.equal(board.take(0, message), false);
    });
  });
});
