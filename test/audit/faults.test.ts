import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { renameSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, stat, symlink, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import type { AuditRecord } from "../../src/protocol/record.ts";
import { auditRecord, counts, fileAudit, type Counts } from "./support/records.ts";
import { inFolder, until } from "./support/wait.ts";

const FLOOD = join(import.meta.dirname, "support", "flood.ts");
const WRITER = join(import.meta.dirname, "support", "writer.ts");

function idsIn(content: string): readonly string[] {
  const lines = content.split("\n");
  assert.equal(lines.pop(), "");
  return lines.map((line) => (JSON.parse(line) as AuditRecord).request_id);
}

describe("audit: a file in trouble", () => {
  const recordIn = (audit: ReturnType<typeof fileAudit>["audit"], id: string) =>
    audit.record("ALLOW", () => auditRecord({ request_id: id }));

  it("records that are on the disk before they count are written like any other", async () => {
    await inFolder(async (folder) => {
      const path = join(folder, "audit.log");
      const { audit } = fileAudit(path, { sync: true });
      recordIn(audit, "first");
      assert.equal(await audit.recordDurably(() => auditRecord({ request_id: "second" }))?.written, true);
      assert.deepEqual(idsIn(await readFile(path, "latin1")), ["first", "second"]);
      await audit.close();
    });
  });

  it("a folder that is gone for a while loses nothing", async () => {
    await inFolder(async (folder) => {
      const sub = join(folder, "logs");
      const path = join(sub, "audit.log");
      await mkdir(sub);
      const { audit, metrics, log } = fileAudit(path);
      recordIn(audit, "before");
      await audit.flush();
      await rename(sub, `${sub}.away`);
      recordIn(audit, "meanwhile");
      await until(() => log.entries.length > 0, "the fault is reported");
      assert.deepEqual(log.entries[0]?.fields, {
        code: "ENOENT",
        reason: `ENOENT: no such file or directory, open '${path}'`,
      });
      assert.equal((await counts(metrics)).queued, 1);
      await mkdir(sub);
      await audit.flush();
      assert.deepEqual(idsIn(await readFile(path, "latin1")), ["meanwhile"]);
      assert.deepEqual(idsIn(await readFile(join(`${sub}.away`, "audit.log"), "latin1")), ["before"]);
      await audit.close();
    });
  });

  it("a full disk loses nothing while there is room in the queue", async () => {
    await inFolder(async (folder) => {
      const path = join(folder, "audit.log");
      await symlink("/dev/full", path);
      const { audit, metrics, log } = fileAudit(path, { queue_size: 3 });
      const taken = ["1", "2", "3", "4"].map((id) => recordIn(audit, id));
      assert.deepEqual(taken, [true, true, true, false]);
      await until(() => log.entries.length > 0, "the fault is reported");
      assert.equal((log.entries[0]?.fields as { code: string }).code, "ENOSPC");
      assert.equal(audit.accepting(), false);
      await unlink(path);
      await audit.flush();
      assert.deepEqual(idsIn(await readFile(path, "latin1")), ["1", "2", "3"]);
      assert.deepEqual((await counts(metrics)).causes, { queue_full: 1 });
      assert.equal(audit.accepting(), true);
      await audit.close();
    });
  });

  it("a line that was cut short does not spoil the next one", async () => {
    await inFolder(async (folder) => {
      const path = join(folder, "audit.log");
      await writeFile(path, '{"request_id":"cut sho');
      const { audit } = fileAudit(path);
      recordIn(audit, "1");
      await audit.close();
      const [torn, ...rest] = (await readFile(path, "latin1")).split("\n");
      assert.equal(torn, '{"request_id":"cut sho');
      assert.deepEqual(idsIn(rest.join("\n")), ["1"]);
    });
  });

  it("a write cut short within a batch is taken up where the last whole line ended", async () => {
    await inFolder(async (folder) => {
      const path = join(folder, "audit.log");
      // the kernel writes what fits below the limit, cutting a line, and refuses the rest
      const command = `ulimit -S -f 100; trap '' XFSZ; exec '${process.execPath}' '${WRITER}' w 400 '${path}'`;
      const child = spawn("sh", ["-c", command], { stdio: ["ignore", "inherit", "pipe"] });
      const files: string[] = [];
      child.stderr.setEncoding("utf8").on("data", (message: string) => {
        if (!message.includes("EFBIG")) return;
        // out of its way: it goes on with a new file
        const moved = `${path}.${files.length}`;
        renameSync(path, moved);
        files.push(moved);
      });
      assert.deepEqual(await once(child, "exit"), [0, null]);
      assert.ok(files.length > 1, `${files.length}`);
      let torn = 0;
      const whole: string[] = [];
      for (const file of [...files, path]) {
        const lines = (await readFile(file, "latin1")).split("\n");
        if (lines.pop() !== "") torn++;
        whole.push(...lines.map((line) => (JSON.parse(line) as AuditRecord).request_id));
      }
      assert.ok(torn > 0);
      assert.deepEqual(
        whole,
        Array.from({ length: 400 }, (_, n) => `w-${n}`),
      );
    });
  });

  it("that cannot be rotated goes on growing, and is rotated as soon as it can be", async () => {
    await inFolder(async (folder) => {
      const path = join(folder, "audit.log");
      const { audit, log } = fileAudit(path, { max_file_size: 1_000, max_files: 1 });
      await mkdir(`${path}.1`);
      for (const id of ["1", "2", "3", "4", "5"]) {
        recordIn(audit, id);
        await audit.flush();
      }
      assert.deepEqual(idsIn(await readFile(path, "latin1")), ["1", "2", "3", "4", "5"]);
      const messages = log.entries.map(({ message }) => message);
      assert.deepEqual(messages, ["could not rotate the audit file; it keeps growing"], "said once");
      await rm(`${path}.1`, { recursive: true });
      recordIn(audit, "6");
      await audit.close();
      assert.deepEqual(idsIn(await readFile(path, "latin1")), ["6"]);
      assert.deepEqual(idsIn(await readFile(`${path}.1`, "latin1")), ["1", "2", "3", "4", "5"]);
    });
  });

  it("keeps as many rotated files as it is told to", async () => {
    await inFolder(async (folder) => {
      const path = join(folder, "audit.log");
      const { audit } = fileAudit(path, { max_file_size: 1, max_files: 2 });
      for (const id of ["1", "2", "3", "4", "5"]) {
        recordIn(audit, id);
        await audit.flush();
      }
      await audit.close();
      assert.deepEqual((await readdir(folder)).toSorted(), ["audit.log", "audit.log.1", "audit.log.2"]);
      const newestFirst = await Promise.all(
        [path, `${path}.1`, `${path}.2`].map((file) => readFile(file, "latin1")),
      );
      assert.deepEqual(newestFirst.map(idsIn), [["5"], ["4"], ["3"]]);
    });
  });

  it("is not for everybody to read", async () => {
    await inFolder(async (folder) => {
      const path = join(folder, "audit.log");
      const { audit } = fileAudit(path);
      recordIn(audit, "1");
      await audit.close();
      assert.equal((await stat(path)).mode & 0o007, 0);
    });
  });

  it("may be a FIFO, with a reader or without one", async () => {
    await inFolder(async (folder) => {
      const path = join(folder, "fifo");
      await promisify(execFile)("mkfifo", [path]);
      const { audit, metrics } = fileAudit(path, {}, { closeTimeout: 50 });
      for (let i = 0; i < 1_000; i++) recordIn(audit, String(i));
      await until(async () => (await counts(metrics)).recorded > 0, "the FIFO's buffer is filled");
      const reader = spawn("cat", [path], { stdio: ["ignore", "pipe", "inherit"] });
      const read = text(reader.stdout);
      await audit.flush();
      await audit.close();
      assert.deepEqual(
        idsIn(await read),
        Array.from({ length: 1_000 }, (_, i) => String(i)),
      );
    });
  });

  it("follows a file that somebody else rotates or deletes", async () => {
    await inFolder(async (folder) => {
      const path = join(folder, "audit.log");
      const { audit } = fileAudit(path);
      recordIn(audit, "1");
      await audit.flush();
      await rename(path, `${path}.old`);
      recordIn(audit, "2");
      await audit.flush();
      assert.deepEqual(idsIn(await readFile(path, "latin1")), ["2"]);
      await rm(path);
      recordIn(audit, "3");
      await audit.close();
      assert.deepEqual(idsIn(await readFile(path, "latin1")), ["3"]);
      assert.deepEqual(idsIn(await readFile(`${path}.old`, "latin1")), ["1"]);
    });
  });
});

interface Outcome extends Counts {
  readonly messages: readonly string[];
}

function outcomeIn(errors: string): Outcome {
  return JSON.parse(errors.trimEnd().split("\n").at(-1) ?? "") as Outcome;
}

describe("audit: standard output in trouble", () => {
  it("a pipe that nobody reads costs records, but neither blocks nor keeps the process from its end", async () => {
    await inFolder(async (folder) => {
      const done = join(folder, "done");
      const reader = `until [ -e '${done}' ]; do sleep 0.05; done; cat`;
      const command = `{ '${process.execPath}' '${FLOOD}' 3000 500 50; touch '${done}'; } | { ${reader}; }`;
      const child = spawn("sh", ["-c", command], { stdio: ["ignore", "pipe", "pipe"] });
      const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
      const { recorded, dropped, causes } = outcomeIn(errors);
      assert.equal(recorded + dropped, 3000);
      assert.ok((causes["queue_full"] ?? 0) > 0 && (causes["write_failed"] ?? 0) > 0, errors);
      assert.equal(idsIn(output).length, recorded, "what counts as recorded is there, and nothing else");
    });
  });

  it("a socket that is read late gets everything that fitted the queue", async () => {
    const child = spawn(process.execPath, [FLOOD, "3000", "500", "10000"], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    child.stdout.pause();
    const errors = text(child.stderr);
    // all has been recorded when the writer says so; only then somebody reads
    const output = await once(child.stderr, "data").then(() => text(child.stdout));
    const { recorded, dropped, causes } = outcomeIn(await errors);
    assert.equal(recorded + dropped, 3000);
    assert.deepEqual(Object.keys(causes), ["queue_full"]);
    const ids = idsIn(output);
    assert.equal(ids.length, recorded);
    assert.deepEqual(
      ids.map(Number).toSorted((a, b) => a - b),
      ids.map(Number),
      "in order",
    );
  });

  it("a closed pipe is reported, and the records count as lost", async () => {
    const command = `'${process.execPath}' '${FLOOD}' 300 500 50 | true`;
    const child = spawn("sh", ["-c", command], { stdio: ["ignore", "inherit", "pipe"] });
    const { recorded, causes, messages } = outcomeIn(await text(child.stderr));
    assert.equal(recorded + (causes["write_failed"] ?? 0), 300);
    assert.ok((causes["write_failed"] ?? 0) > 0);
    assert.equal(messages[0], "could not write audit records; will retry");
  });

  it("a full disk behind a redirection is reported, and the records count as lost", async () => {
    const command = `'${process.execPath}' '${FLOOD}' 300 500 50 > /dev/full`;
    const child = spawn("sh", ["-c", command], { stdio: ["ignore", "inherit", "pipe"] });
    const { recorded, causes } = outcomeIn(await text(child.stderr));
    assert.deepEqual([recorded, causes], [0, { write_failed: 300 }]);
  });

  it("can be thrown away", async () => {
    const child = spawn(process.execPath, [FLOOD, "300", "500", "5000"], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    const { recorded } = outcomeIn(await text(child.stderr));
    assert.equal(recorded, 300);
  });
});
