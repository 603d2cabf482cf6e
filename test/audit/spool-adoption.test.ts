import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { FakeControlPlane } from "../support/fake-control-plane.ts";
import { controlPlaneAudit, ids, record, valueOf, type ControlPlaneAudit } from "./support/control-plane.ts";
import { counts } from "./support/records.ts";
import { inFolder, until } from "./support/wait.ts";

const WRITER = join(import.meta.dirname, "support", "spooling-writer.ts");

describe("audit: what another process has spooled", () => {
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

  it("hands over what an earlier process has left, before anything new and without being asked", async () => {
    await inFolder(async (folder) => {
      plane.fault = () => ({ status: 503 });
      const earlier = auditIn(folder);
      record(earlier, 0, 10);
      await earlier.audit.close();
      assert.equal((await counts(earlier.metrics)).recorded, 10);
      plane.fault = () => undefined;
      const second = auditIn(folder);
      record(second, 10, 12);
      await arrived(12);
      assert.deepEqual(taken(), ids(0, 12));
      plane.fault = () => ({ status: 503 });
      record(second, 12, 20);
      await second.close();
      plane.fault = () => undefined;
      const third = auditIn(folder); // without a record of its own
      await arrived(20);
      assert.deepEqual(taken(), ids(0, 20));
      await until(async () => (await valueOf(third.metrics.auditSpoolBytes)) === 0, "the spool is empty");
      await third.close();
      assert.deepEqual(await readdir(join(folder, "worker-0")), []);
    });
  });

  it("hands over what workers have left that there are no more, and lets those alone that live", async () => {
    await inFolder(async (folder) => {
      plane.fault = () => ({ status: 503 });
      const [second, third] = [auditIn(folder, { worker: 1 }), auditIn(folder, { worker: 2 })];
      record(second, 0, 5);
      record(third, 5, 10);
      await second.audit.close();
      await third.audit.flush();
      plane.fault = ({ body }) => (JSON.stringify(body).includes("dec_5") ? { status: 503 } : undefined);
      const first = auditIn(folder);
      await arrived(5);
      assert.deepEqual(taken(), ids(0, 5));
      await until(
        () => first.log.entries.some(({ fields }) => (fields as { code?: string }).code === "SPOOL_LOCKED"),
        "it has found a worker that lives",
      );
      await third.close();
      plane.fault = () => undefined;
      auditIn(folder, { worker: 1 }); // its index has no say over others
      await until(async () => (await readdir(join(folder, "worker-1"))).includes("lock"), "it has begun");
      assert.equal(plane.records.length, 5);
      for (const one of open.splice(0)) await one.close();
      auditIn(folder, { workers: 1 });
      await arrived(10);
      assert.deepEqual(taken(), ids(0, 10));
    });
  });

  it("shares its spool with no other process, and has it when that is gone", async () => {
    await inFolder(async (folder) => {
      const first = auditIn(folder);
      record(first, 0);
      await first.audit.flush();
      const second = auditIn(folder);
      record(second, 1);
      await second.audit.flush();
      plane.fault = () => ({ status: 503 });
      record(second, 2);
      await until(
        () => second.log.entries.some(({ fields }) => (fields as { code?: string }).code === "SPOOL_LOCKED"),
        "it says why it cannot write",
      );
      assert.equal((await counts(second.metrics)).queued, 1);
      await first.close();
      await second.audit.flush();
      assert.equal(await valueOf(second.metrics.auditSpooled), 1);
    });
  });

  it("leaves folders alone that are no worker's", async () => {
    await inFolder(async (folder) => {
      await mkdir(join(folder, "worker-x"));
      await mkdir(join(folder, "other"));
      const made = auditIn(folder);
      record(made, 0);
      await made.audit.flush();
      assert.deepEqual(await readdir(join(folder, "worker-x")), []);
      assert.deepEqual(await readdir(join(folder, "other")), []);
    });
  });

  describe("when the process is killed", () => {
    it("loses no record that counted as recorded, and keeps their order", async () => {
      await inFolder(async (folder) => {
        plane.fault = () => ({ status: 503 });
        const child = spawn(process.execPath, [WRITER, plane.url, plane.apiKey, folder], {
          stdio: ["ignore", "pipe", "inherit"],
        });
        let recorded = 0;
        let said = 0;
        child.stdout.setEncoding("utf8").on("data", (text: string) => {
          recorded = Math.max(recorded, ...text.trim().split("\n").map(Number));
          if (++said === 20) child.kill("SIGKILL");
        });
        assert.deepEqual(await once(child, "close"), [null, "SIGKILL"]);
        assert.ok(recorded > 0);
        plane.fault = () => undefined;
        const made = auditIn(folder);
        await arrived(recorded);
        await until(async () => (await valueOf(made.metrics.auditSpoolBytes)) === 0, "the spool is empty");
        assert.deepEqual(taken(), ids(0, plane.records.length), "in order, none missing");
      });
    });

    it("in the middle of handing over, gives the rest to the next one, and what was given before is known", async () => {
      await inFolder(async (folder) => {
        plane.fault = () => ({ status: 503 });
        const earlier = auditIn(folder, { queue_size: 100_000 });
        record(earlier, 0, 12_000);
        await earlier.audit.close();
        let calls = 0;
        plane.fault = () => (++calls > 2 ? "hang" : undefined);
        const child = spawn(process.execPath, [WRITER, plane.url, plane.apiKey, folder], { stdio: "ignore" });
        await until(() => calls > 2, "some of it has been handed over");
        child.kill("SIGKILL");
        await once(child, "exit");
        const before = plane.records.length;
        assert.ok(before > 0 && before < 12_000, `${before}`);
        plane.fault = () => undefined;
        auditIn(folder);
        await arrived(12_000);
        assert.deepEqual(taken().slice(0, 12_000), ids(0, 12_000));
      });
    });
  });
});
