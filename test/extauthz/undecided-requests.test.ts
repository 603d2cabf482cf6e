import assert from "node:assert/strict";
import {
  isUndecidedMessage,
  UndecidedRequests,
  type UndecidedMessage,
} from "../../src/extauthz/undecided-requests.ts";
import { until } from "./support/client.ts";

/** Workers that reach each other as through the supervisor; those in `dead` are not reached. */
function workersOf(count: number, dead: ReadonlySet<number> = new Set()) {
  const sent: UndecidedMessage[] = [];
  const workers: UndecidedRequests[] = Array.from(
    { length: count },
    (_, worker) =>
      new UndecidedRequests({
        worker,
        workers: count,
        send: (message) => {
          sent.push(message);
          const copy: unknown = JSON.parse(JSON.stringify(message));
          assert.ok(isUndecidedMessage(copy));
          for (const [index, other] of workers.entries()) {
            if (dead.has(index) || (copy.type === "requests_decided" && copy.to !== index)) continue;
            other.take(copy);
          }
        },
      }),
  );
  const settled: Record<string, boolean> = {};
  const report = (worker: number, id: string) => {
    workers[worker]!.report(id, (decided) => {
      assert.ok(!(id in settled), `${id} once`);
      settled[id] = decided;
    });
  };
  return { workers, settled, sent, report };
}

describe("extauthz: requests that end while they are decided", () => {
  it("have one record: of the decision, if it was first", async () => {
    const { workers, settled, report } = workersOf(3);
    for (const [worker, id] of ["here", "there"].entries()) assert.ok(workers[worker]!.claim(id));
    for (const id of ["here", "there", "nowhere"]) report(0, id);
    assert.deepEqual(settled, { here: true });
    await until(() => Object.keys(settled).length === 3, "all are known");
    assert.deepEqual(settled, { here: true, there: true, nowhere: false });
  });

  it("have one record: of Envoy's report, if that was first", async () => {
    const { workers, settled, report } = workersOf(2);
    report(0, "a");
    await until(() => "a" in settled, "it is known");
    assert.equal(settled["a"], false);
    for (const worker of workers) {
      assert.ok(worker.isReported("a"));
      assert.equal(worker.claim("a"), false);
    }
  });

  it("are claimed once, also where a check is repeated", () => {
    const [worker] = workersOf(1).workers;
    assert.deepEqual([worker!.claim("a"), worker!.claim("a"), worker!.claim("b")], [true, false, true]);
    assert.equal(worker!.isReported("a"), false);
  });

  it("are asked about together, and nobody is asked by a worker that is alone", async () => {
    const { settled, sent, report } = workersOf(2);
    for (let id = 0; id < 600; id += 1) report(1, String(id));
    await until(() => Object.keys(settled).length === 600, "all are known");
    assert.equal(sent.filter(({ type }) => type === "requests_undecided").length, 2);
    const alone = workersOf(1);
    alone.report(0, "a");
    assert.deepEqual([alone.settled, alone.sent], [{ a: false }, []]);
  });

  it("have their record although a worker does not reply, when this one ends", async () => {
    const { workers, settled, sent, report } = workersOf(3, new Set([2]));
    workers[1]!.claim("there");
    report(0, "there");
    report(0, "nowhere");
    await until(() => sent.length === 2, "who is left has replied");
    assert.deepEqual(settled, { there: true });
    report(0, "later");
    workers[0]!.close();
    assert.deepEqual(settled, { there: true, nowhere: false, later: false });
  });

  it("are known by messages of this form only", () => {
    for (const message of [
      undefined,
      {},
      { type: "requests_undecided", worker: "1", batch: 1, ids: [] },
      { type: "requests_decided", worker: 1, batch: 1, ids: [] },
      { type: "requests_decided", to: 1, batch: 1, ids: [1] },
      { type: "connections_ended", ids: [] },
    ])
      assert.equal(isUndecidedMessage(message), false);
  });
});
