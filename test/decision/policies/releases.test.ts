import assert from "node:assert/strict";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  monotonicNow,
  type ReleaseOrder,
  type ReleaseReport,
} from "../../../src/decision/policies/release-messages.ts";
import { ReleasePublisher } from "../../../src/decision/policies/release-publisher.ts";
import { ReleaseReceiver } from "../../../src/decision/policies/release-receiver.ts";
import type { Snapshot } from "../../../src/decision/policies/snapshot.ts";
import { createMetrics } from "../../../src/telemetry/metrics.ts";
import { eventually } from "../../support/eventually.ts";
import { ruleOf, silentLog, snapshotOf } from "../support.ts";

const LEAD_MS = 50;

function versioned(version: string, condition = "true"): Snapshot {
  return snapshotOf(ruleOf(condition, `version: ${version}`));
}

/** A worker of these tests: what reaches it can be held back, answered otherwise, or lost. */
interface TestWorker {
  readonly receiver: ReleaseReceiver;
  readonly orders: ReleaseOrder[];
  /** What is reported in place of what the worker says. */
  report: (report: ReleaseReport) => ReleaseReport | undefined;
  alive: boolean;
}

describe("decision: releases of policies", () => {
  let directory: string;
  let publisher: ReleasePublisher;
  let workers: TestWorker[];
  /** The workers' clock, where a test holds it. */
  let now: number | undefined;
  const warnings: string[] = [];
  const killed: number[] = [];

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "gatehouse-releases-"));
    workers = [];
    warnings.length = 0;
    killed.length = 0;
    publisher = publisherWith({});
  });
  afterEach(async () => {
    for (const { receiver } of workers) receiver.close();
    await rm(directory, { recursive: true, force: true });
  });

  function publisherWith(options: {
    readonly prepareMs?: number;
    readonly retryMs?: number;
    readonly held?: boolean;
  }): ReleasePublisher {
    return new ReleasePublisher(
      { directory: join(directory, "sets"), leadMs: LEAD_MS, ...options },
      {
        workers: {
          send: (index, order) => {
            const worker = workers[index];
            if (worker?.alive !== true) return false;
            // as between processes: through JSON, and later
            const copy = JSON.parse(JSON.stringify(order)) as ReleaseOrder;
            worker.orders.push(copy);
            setImmediate(() => {
              if (worker.alive) worker.receiver.take(copy);
            });
            return true;
          },
          kill: (index) => {
            killed.push(index);
            workers[index]!.alive = false;
          },
        },
        log: { error: () => undefined, warn: (_object, message) => warnings.push(message) },
      },
    );
  }

  /** A process that has just started in this place. */
  function startWorker(index = workers.length): TestWorker {
    const worker: TestWorker = {
      receiver: new ReleaseReceiver(
        { caseSensitive: false },
        {
          send: (report) => {
            setImmediate(() => {
              const said = worker.report(report);
              if (said !== undefined && worker.alive) publisher.take(index, said);
            });
          },
          metrics: createMetrics(),
          log: silentLog,
          clock: () => now ?? monotonicNow(),
        },
      ),
      orders: [],
      report: (report) => report,
      alive: true,
    };
    workers[index] = worker;
    worker.receiver.start();
    return worker;
  }

  const labels = () => workers.map(({ receiver }) => receiver.current?.main.label);
  const untilReady = () =>
    eventually("all have policies", () => labels().every((label) => label !== undefined));

  beforeEach(() => {
    now = undefined;
  });

  it("reach every worker, also those that start before there is one and after", async () => {
    startWorker();
    startWorker();
    await publisher.publish({ main: versioned("v1") });
    assert.deepEqual(labels(), ["test@v1", "test@v1"]);
    startWorker();
    await untilReady();
    assert.deepEqual(labels(), ["test@v1", "test@v1", "test@v1"]);
    assert.deepEqual(
      workers.map(({ receiver }) => receiver.current?.main.digest),
      Array(3).fill(versioned("v1").digest),
    );
  });

  it("are held until everything that belongs together is there, and then come at once", async () => {
    publisher = publisherWith({ held: true });
    startWorker();
    await publisher.publish({ main: versioned("v1") });
    startWorker();
    const candidate = { set: versioned("v2"), mode: "enforce", percentage: 100, stickyBy: "user" } as const;
    await publisher.publish({ candidate });
    assert.deepEqual([workers[0]?.orders, labels()], [[], [undefined, undefined]]);
    await publisher.release();
    await untilReady();
    for (const { receiver, orders } of workers) {
      assert.equal(receiver.current?.candidate?.set.label, "test@v2");
      assert.deepEqual(
        orders.map(({ type }) => type),
        ["release_prepare", "release_activate"],
      );
    }
  });

  it("come into force at one moment for all, whenever each hears of it", async () => {
    startWorker();
    startWorker();
    await publisher.publish({ main: versioned("v1") });
    await untilReady();
    now = monotonicNow();
    const publishing = publisher.publish({ main: versioned("v2") });
    await eventually("both know the moment", () =>
      workers.every(({ orders }) => orders.filter(({ type }) => type === "release_activate").length === 2),
    );
    const at = workers.map(({ orders }) => {
      const order = orders.at(-1);
      return order?.type === "release_activate" ? order.at : 0;
    });
    assert.equal(at[0], at[1]);
    await eventually("both have taken it", async () => {
      await new Promise((resolve) => setImmediate(resolve));
      return workers.every(({ receiver }) => receiver.current !== undefined);
    });
    const [moment = 0] = at;
    now = moment - 1;
    assert.deepEqual(labels(), ["test@v1", "test@v1"]);
    now = moment;
    assert.deepEqual(labels(), ["test@v2", "test@v2"]);
    await publishing;
  });

  it("are in force when the publisher says so", async () => {
    startWorker();
    await publisher.publish({ main: versioned("v1") });
    for (let n = 2; n < 5; n += 1) {
      await publisher.publish({ main: versioned(`v${n}`) });
      assert.deepEqual(labels(), [`test@v${n}`]);
    }
  });

  it("change nothing where one worker cannot load them", async () => {
    startWorker();
    startWorker();
    await publisher.publish({ main: versioned("v1") });
    workers[1]!.report = (report) =>
      report.type === "release_prepared" ? { ...report, error: "no memory" } : report;
    await assert.rejects(publisher.publish({ main: versioned("v2") }), /worker 1: no memory/);
    assert.deepEqual(labels(), ["test@v1", "test@v1"]);
    workers[1]!.report = (report) => report;
    await publisher.publish({ main: versioned("v3") });
    assert.deepEqual(labels(), ["test@v3", "test@v3"]);
  });

  it("end a worker that does not answer where another one does", async () => {
    publisher = publisherWith({ prepareMs: 300 });
    startWorker();
    startWorker();
    await publisher.publish({ main: versioned("v1") });
    workers[0]!.report = (report) => (report.type === "release_prepared" ? undefined : report);
    await publisher.publish({ main: versioned("v2") });
    assert.deepEqual(killed, [0]);
    assert.equal(labels()[1], "test@v2");
    startWorker(0);
    await eventually("its successor has it", () => labels()[0] === "test@v2");
    await publisher.publish({ main: versioned("v3") });
    assert.deepEqual(labels(), ["test@v3", "test@v3"]);
  });

  it("change nothing where no worker answers", async () => {
    publisher = publisherWith({ prepareMs: 100 });
    startWorker();
    await publisher.publish({ main: versioned("v1") });
    workers[0]!.report = () => undefined;
    await assert.rejects(publisher.publish({ main: versioned("v2") }), /no worker loaded it in time/);
    assert.deepEqual(killed, []);
    assert.deepEqual(labels(), ["test@v1"]);
    workers[0]!.report = (report) => report;
    await publisher.publish({ main: versioned("v3") });
    assert.deepEqual(labels(), ["test@v3"]);
  });

  it("reach workers that could not load the first one", async () => {
    publisher = publisherWith({ retryMs: 50 });
    const [one, other] = [startWorker(), startWorker()];
    const fail = (report: ReleaseReport) =>
      report.type === "release_prepared" ? { ...report, error: "not now" } : report;
    other.report = fail;
    await assert.rejects(publisher.publish({ main: versioned("v1") }), /worker 1: not now/);
    assert.deepEqual(labels(), [undefined, undefined]);
    one.report = fail;
    await assert.rejects(publisher.publish({ main: versioned("v2") }), /not now; worker \d: not now/);
    one.report = other.report = (report) => report;
    await publisher.publish({ main: versioned("v3") });
    assert.deepEqual(labels(), ["test@v3", "test@v3"]);
    // one that starts later, and fails at first, is tried again
    const late = startWorker();
    late.report = fail;
    await eventually("it was asked", () => late.orders.length > 0);
    late.report = (report) => report;
    await eventually("it has it in the end", () => labels()[2] === "test@v3");
  });

  it("are not those of a life that ended between its answer and the others'", async () => {
    startWorker();
    const slow = startWorker();
    await publisher.publish({ main: versioned("v1") });
    let release = (): void => undefined;
    slow.report = (report) => {
      if (report.type !== "release_prepared") return report;
      release = () => {
        publisher.take(1, report);
      };
      return undefined;
    };
    const publishing = publisher.publish({ main: versioned("v2") });
    const answered = eventually("worker 0 has answered, and worker 1 could", async () => {
      await new Promise((resolve) => setImmediate(resolve));
      return workers[0]!.orders.length === 3 && slow.orders.length === 3;
    });
    await answered;
    workers[0]!.alive = false;
    publisher.ended(0);
    startWorker(0);
    await new Promise((resolve) => setTimeout(resolve, 20));
    slow.report = (report) => report;
    release();
    await publishing;
    await eventually("both have it", () => labels().every((label) => label === "test@v2"));
    await publisher.publish({ main: versioned("v3") });
    assert.deepEqual(labels(), ["test@v3", "test@v3"]);
  });

  it("come one after the other though a worker is busy over the moment of each", async () => {
    startWorker();
    await publisher.publish({ main: versioned("v1") });
    // its clock jumps ahead whenever it is told a moment: the timer has not run, and the next order is there
    const { receiver, orders } = workers[0]!;
    for (let n = 2; n < 6; n += 1) {
      const publishing = publisher.publish({ main: versioned(`v${n}`) });
      await eventually("it knows the moment", () => orders.at(-1)?.type === "release_activate");
      now = Number.MAX_SAFE_INTEGER;
      await publishing;
      now = undefined;
    }
    assert.equal(receiver.current?.main.label, "test@v5");
  });

  it("wait for no worker whose process has ended, and find its successor", async () => {
    startWorker();
    startWorker();
    await publisher.publish({ main: versioned("v1") });
    const dying = workers[1]!;
    dying.report = () => undefined;
    const publishing = publisher.publish({ main: versioned("v2") });
    await eventually("it was asked", () => dying.orders.length === 3);
    dying.alive = false;
    publisher.ended(1);
    startWorker(1);
    await publishing;
    await eventually("all have it", () => labels().every((label) => label === "test@v2"));
  });

  it("go together where they come together, and a bad one alone fails", async () => {
    startWorker();
    await publisher.publish({ main: versioned("v1") });
    const bad = versioned("bad");
    workers[0]!.report = (report) => {
      if (report.type !== "release_prepared") return report;
      const order = workers[0]!.orders.at(-1);
      const holdsBad = JSON.stringify(order).includes("test@bad");
      return holdsBad ? { ...report, error: "bad" } : report;
    };
    const results = await Promise.allSettled([
      publisher.publish({ customers: { a: versioned("a1") } }), // under way when the others come
      publisher.publish({ customers: { b: bad } }),
      publisher.publish({ customers: { c: versioned("c1") } }),
      publisher.publish({ main: versioned("v2") }),
    ]);
    assert.deepEqual(
      results.map(({ status }) => status),
      ["fulfilled", "rejected", "fulfilled", "fulfilled"],
    );
    const { current } = workers[0]!.receiver;
    assert.ok(current);
    assert.equal(current.main.label, "test@v2");
    assert.deepEqual(
      [...current.customers].map(([name, { label }]) => [name, label]),
      [
        ["a", "test@a1"],
        ["c", "test@c1"],
      ],
    );
  });

  it("hold customers' sets that were there before the main one, and drop those that nobody names", async () => {
    startWorker();
    await publisher.publish({ customers: { a: versioned("a1"), b: versioned("b1") } });
    assert.deepEqual(labels(), [undefined]);
    await publisher.publish({ main: versioned("v1") });
    const before = workers[0]!.receiver.current;
    assert.deepEqual([...(before?.customers.keys() ?? [])], ["a", "b"]);
    await publisher.publish({ customers: { a: null } });
    const after = workers[0]!.receiver.current;
    assert.deepEqual([...(after?.customers.keys() ?? [])], ["b"]);
    // what a request has taken stays as it is, and what has not changed is not loaded again
    assert.deepEqual([...(before?.customers.keys() ?? [])], ["a", "b"]);
    assert.equal(after?.main, before?.main);
    assert.equal((await readdir(join(directory, "sets"))).length, 2);
  });

  it("tell listeners once each, after they are in force", async () => {
    const { receiver } = startWorker();
    const seen: (string | undefined)[] = [];
    receiver.afterChange(() => seen.push(receiver.current?.main.label));
    receiver.afterChange(() => {
      throw new Error("a listener of this test");
    });
    await publisher.publish({ main: versioned("v1") });
    await publisher.publish({ main: versioned("v2") });
    await eventually("both were told", () => seen.length === 2);
    assert.deepEqual(seen, ["test@v1", "test@v2"]);
  });

  it("are said to be late where a worker hears of the moment after it", async () => {
    startWorker();
    await publisher.publish({ main: versioned("v1") });
    assert.deepEqual(warnings, []);
    workers[0]!.report = (report) =>
      report.type === "release_activated" ? { ...report, late: true } : report;
    await publisher.publish({ main: versioned("v2") });
    assert.deepEqual(warnings, ["workers switched policies late: they are overloaded"]);
  });
});
