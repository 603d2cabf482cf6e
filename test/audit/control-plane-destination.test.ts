import assert from "node:assert/strict";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { FakeControlPlane, type Fault } from "../support/fake-control-plane.ts";
import { controlPlaneAudit, ids, record, valueOf, type ControlPlaneAudit } from "./support/control-plane.ts";
import { auditRecord, counts, outcomeCounts, outcomeRecord } from "./support/records.ts";
import { inFolder, until } from "./support/wait.ts";

describe("audit: control plane", () => {
  let plane: FakeControlPlane;
  const open: ControlPlaneAudit[] = [];

  beforeEach(async () => {
    plane = await FakeControlPlane.start();
  });
  afterEach(async () => {
    for (const one of open.splice(0)) await one.close();
    await plane.close();
  });

  const auditIn = (folder: string, options: Parameters<typeof controlPlaneAudit>[2] = {}) => {
    const made = controlPlaneAudit(plane.options, folder, options);
    open.push(made);
    return made;
  };
  const taken = () => plane.records.map((record) => record["decision_id"]);
  const arrived = (count: number) => until(() => plane.records.length >= count, `${count} records arrive`);

  it("sends batches of records as they are, each once", async () => {
    await inFolder(async (folder) => {
      const made = auditIn(folder);
      record(made, 0, 500);
      made.audit.recordOutcome(true, () =>
        outcomeRecord({ decision_id: "dec_0", masked_paths: ["$.ü\u0000"] }),
      );
      await made.audit.flush();
      assert.equal(plane.records.length, 501);
      assert.deepEqual(taken().slice(0, 500), ids(0, 500));
      assert.deepEqual(plane.records[0], auditRecord({ decision_id: "dec_0" }));
      assert.equal(plane.records[500]?.["event"], "response");
      assert.ok(plane.askedFor("records").length < 20);
      const { recorded, dropped } = await counts(made.metrics);
      assert.deepEqual({ recorded, dropped }, { recorded: 500, dropped: 0 });
      assert.equal((await outcomeCounts(made.metrics)).recorded, 1);
      assert.equal(await valueOf(made.metrics.auditSpooled), 0);
      assert.deepEqual(await readdir(join(folder, "worker-0")), ["lock"]);
    });
  });

  it("has what a decision waits for on the disk first, and hands it over from there", async () => {
    await inFolder(async (folder) => {
      const made = auditIn(folder);
      const durable = made.audit.recordDurably(() => auditRecord({ decision_id: "dec_0" }));
      assert.equal(await durable?.written, true);
      assert.equal(await valueOf(made.metrics.auditSpooled), 1);
      await arrived(1);
      assert.deepEqual(taken(), ["dec_0"]);
    });
  });

  const faults: [string, Fault][] = [
    ["is failing", { status: 500 }],
    ["is not available", { status: 503, code: "SERVICE_UNAVAILABLE" }],
    ["has had enough", { status: 429, code: "RATE_LIMIT_EXCEEDED", headers: { "retry-after": "0" } }],
    ["refuses the key", { status: 401, code: "API_KEY_REVOKED" }],
    ["refuses the scope", { status: 403, code: "INSUFFICIENT_SCOPE" }],
    ["is not the API, whatever it says", { status: 400, body: "<html>bad request</html>" }],
    ["does not know the path", { status: 404, code: "NOT_FOUND" }],
    ["answers nonsense", { body: '{"success":true,"data":{}}' }],
    ["breaks connections", "reset"],
    ["cuts answers short", "cut"],
    ["takes what it is given and does not say so", "lost"],
  ];
  for (const [what, fault] of faults) {
    it(`spools while the control plane ${what}, and hands over in order, with what came meanwhile behind it`, async () => {
      await inFolder(async (folder) => {
        const made = auditIn(folder);
        record(made, 0, 10);
        await made.audit.flush();
        plane.fault = () => fault;
        for (let n = 10; n < 60; n += 10) {
          record(made, n, n + 10);
          await made.audit.flush();
        }
        const then = await counts(made.metrics);
        assert.deepEqual(
          [then.recorded, then.dropped, then.queued],
          [60, 0, 0],
          "what is spooled is recorded",
        );
        assert.ok((await valueOf(made.metrics.auditSpoolBytes)) > 0);
        plane.fault = () => undefined;
        record(made, 60, 70);
        await arrived(70);
        assert.deepEqual(taken(), ids(0, 70));
        await until(async () => (await valueOf(made.metrics.auditSpoolBytes)) === 0, "the spool is empty");
        record(made, 70, 80);
        await arrived(80);
        assert.deepEqual(taken(), ids(0, 80));
        assert.equal(await valueOf(made.metrics.auditRejected), 0);
        const messages = made.log.entries.map(({ message }) => message);
        assert.equal(messages.filter((message) => message.includes("spooling them")).length, 1, "said once");
        assert.equal(messages.filter((message) => message.includes("again")).length, 1);
      });
    });
  }

  it("spools while the control plane is not there, and while it does not answer", async () => {
    await inFolder(async (folder) => {
      const made = auditIn(folder);
      const port = Number(new URL(plane.url).port);
      await plane.close();
      record(made, 0, 10);
      await made.audit.flush();
      plane = await FakeControlPlane.start(port);
      await arrived(10);
      await until(async () => (await valueOf(made.metrics.auditSpoolBytes)) === 0, "the spool is empty");
      plane.fault = () => "hang";
      record(made, 10, 20);
      await made.audit.flush();
      assert.ok((await valueOf(made.metrics.auditSpoolBytes)) > 0);
      plane.fault = () => undefined;
      await plane.close(); // lets go of the call that hangs
      plane = await FakeControlPlane.start(port);
      await arrived(10);
      assert.deepEqual(taken(), ids(10, 20));
    });
  });

  it("drops and counts when spool and queue are full, and loses nothing of what it took", async () => {
    await inFolder(async (folder) => {
      plane.fault = () => ({ status: 503 });
      const made = auditIn(folder, { spool_size: 5_000, queue_size: 10 });
      const isSpoolFull = () =>
        made.log.entries.some(({ fields }) => (fields as { code?: string }).code === "SPOOL_FULL");
      let decided = 0;
      const accepted: string[] = [];
      await until(() => {
        const isFull = isSpoolFull() && !made.audit.accepting();
        accepted.push(...record(made, decided, decided + 5));
        decided += 5;
        return isFull;
      }, "spool and queue are full, and more is decided");
      const then = await counts(made.metrics);
      assert.equal(then.recorded + then.queued + then.dropped, decided);
      assert.equal(then.recorded + then.queued, accepted.length);
      assert.equal(then.queued, 10);
      assert.ok(then.recorded >= 5 && then.recorded < 20, `${then.recorded} in 5,000 bytes`);
      assert.deepEqual(Object.keys(then.causes), ["queue_full"]);

      plane.fault = () => undefined;
      await made.audit.flush();
      await arrived(accepted.length);
      assert.deepEqual(taken(), accepted, "in order");
      const last = await counts(made.metrics);
      assert.deepEqual([last.recorded + last.dropped, last.queued], [decided, 0]);
      assert.equal(made.audit.accepting(), true);
    });
  });

  for (const how of ["rejected", "refused"] as const) {
    it(`counts and logs records that are ${how}, sets them aside, and lets them hold nothing up`, async () => {
      await inFolder(async (folder) => {
        plane.isBad = ({ decision_id }) => (["dec_3", "dec_17"].includes(String(decision_id)) ? how : false);
        const made = auditIn(folder);
        record(made, 0, 20);
        await made.audit.flush();
        const good = ids(0, 20).filter((id) => id !== "dec_3" && id !== "dec_17");
        assert.deepEqual(taken(), good);
        // and from the spool
        plane.fault = () => ({ status: 503 });
        record(made, 3);
        record(made, 20, 22);
        await made.audit.flush();
        plane.fault = () => undefined;
        await arrived(20);
        assert.deepEqual(taken(), [...good, "dec_20", "dec_21"]);
        await until(async () => (await valueOf(made.metrics.auditSpoolBytes)) === 0, "the spool is empty");
        assert.equal(await valueOf(made.metrics.auditRejected), 3);
        assert.equal((await counts(made.metrics)).recorded, 23);
        const about = made.log.entries.filter(({ message }) => message.includes("rejected an audit record"));
        assert.deepEqual(
          about.map(({ fields }) => (fields as { decision_id: string }).decision_id),
          ["dec_3", "dec_17", "dec_3"],
        );
        const aside = await readFile(join(folder, "worker-0", "rejected.log"), "latin1");
        assert.equal(aside.split("\n").filter((text) => text.includes("dec_17")).length, 1);
      });
    });
  }

  it("says once that its clock is off, counts what is refused for that, and sets it aside", async () => {
    await inFolder(async (folder) => {
      plane.isBad = () => "ahead";
      const made = auditIn(folder);
      record(made, 0, 5);
      await made.audit.flush();
      record(made, 5, 8);
      await made.audit.flush();
      assert.deepEqual(taken(), []);
      assert.equal(await valueOf(made.metrics.auditRejectedForTime), 8);
      assert.equal(await valueOf(made.metrics.auditRejected), 8);
      const said = () => made.log.entries.filter(({ message }) => message.includes("clock"));
      assert.equal(said().length, 1);
      const aside = await readFile(join(folder, "worker-0", "rejected.log"), "latin1");
      assert.equal(aside.trimEnd().split("\n").length, 8);
      // it was set right, and goes wrong again
      plane.isBad = () => false;
      record(made, 8);
      await made.audit.flush();
      plane.isBad = () => "ahead";
      record(made, 9);
      await made.audit.flush();
      assert.equal(said().length, 2);
    });
  });

  it("goes on without a spool as long as the control plane takes records, and says that there is none", async () => {
    await inFolder(async (folder) => {
      await writeFile(join(folder, "worker-0"), "in the way");
      const made = auditIn(folder, { queue_size: 20, closeTimeout: 200 });
      record(made, 0, 10);
      await made.audit.flush();
      assert.deepEqual(taken(), ids(0, 10));
      assert.ok(made.log.entries.some(({ message }) => message.includes("could not open the audit spool")));
      plane.fault = () => ({ status: 503 });
      record(made, 10, 40);
      await until(() => !made.audit.accepting(), "the queue is full");
      assert.deepEqual((await counts(made.metrics)).causes, { queue_full: 10 });
      const said = () => made.log.entries.map(({ message }) => message);
      const unkept = "the control plane does not accept audit records, and no spool is available";
      await until(() => said().includes(unkept), "that it is said");
      assert.ok(!said().some((message) => message.includes("spooling them")));
      plane.fault = () => undefined;
      await made.audit.flush();
      assert.deepEqual(taken(), ids(0, 30));
    });
  });

  it("closes in time though the control plane does not answer, and keeps what it took", async () => {
    await inFolder(async (folder) => {
      plane.fault = () => "hang";
      const made = auditIn(folder);
      record(made, 0, 10);
      await made.close();
      const { recorded, dropped } = await counts(made.metrics);
      assert.deepEqual({ recorded, dropped }, { recorded: 10, dropped: 0 });
      plane.fault = () => undefined;
      auditIn(folder);
      await arrived(10);
      assert.deepEqual(taken(), ids(0, 10));
    });
  });

  it("catches up though records come while any batch is under way, and is then without a spool", async () => {
    await inFolder(async (folder) => {
      plane.fault = () => ({ status: 503 });
      const made = auditIn(folder, { queue_size: 100_000 });
      record(made, 0, 5_000);
      await made.audit.flush();
      let [sent, calls] = [5_000, 0];
      plane.fault = () => undefined;
      plane.before = async () => {
        const before = await valueOf(made.metrics.auditSpooled);
        record(made, sent, ++sent);
        // time enough for them to be spooled, if that is where they go
        for (let look = 0; look < 10 && (await valueOf(made.metrics.auditSpooled)) === before; look += 1)
          await new Promise((resolve) => setTimeout(resolve, 5));
        calls += 1;
      };
      await until(
        async () => calls >= 30 || (await valueOf(made.metrics.auditSpoolBytes)) === 0,
        "the spool is empty",
      );
      plane.before = () => undefined;
      assert.ok(calls < 30, "it has caught up");
      await made.audit.flush();
      await arrived(sent);
      assert.deepEqual(taken(), ids(0, sent));
    });
  });
});
