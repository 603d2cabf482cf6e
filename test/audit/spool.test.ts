import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, mkdir, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { takeProcessLock } from "../../src/audit/process-lock.ts";
import { Spool, SpoolLockedError } from "../../src/audit/spool.ts";
import { inFolder } from "./support/wait.ts";

const SPOOLER = join(import.meta.dirname, "support", "spooler.ts");
const line = (n: number, length = 20) => `${String(n).padStart(length - 1, "0")}\n`;
const linesOf = (from: number, to: number, length?: number) =>
  Array.from({ length: to - from }, (_, n) => line(from + n, length));

const open = (directory: string, maxBytes = 100_000_000) => Spool.open({ directory, maxBytes });
const segmentsOf = async (folder: string) =>
  (await readdir(folder)).filter((name) => name.endsWith(".ndjson")).sort();

/** Everything in it, oldest first, taken out. */
async function drain(spool: Spool): Promise<string[]> {
  const all: string[] = [];
  for (let oldest = await spool.oldest(); oldest !== undefined; oldest = await spool.oldest()) {
    all.push(...oldest.lines);
    await spool.remove(oldest.segment);
  }
  return all;
}

describe("audit: spool", () => {
  it("gives back what it was given, in order, whatever is appended meanwhile", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(fc.integer({ min: 1, max: 400 }), fc.constantFrom("take", "look", "reopen")), {
          maxLength: 25,
        }),
        async (steps) => {
          await inFolder(async (folder) => {
            let spool = await open(folder);
            const [given, taken]: [string[], string[]] = [[], []];
            for (const step of steps) {
              if (typeof step === "number") {
                const lines = linesOf(given.length, given.length + step, 4_000);
                assert.deepEqual(await spool.append(lines), { written: step });
                given.push(...lines);
              } else if (step === "reopen") {
                await spool.close();
                spool = await open(folder);
              } else {
                const oldest = await spool.oldest();
                assert.equal(oldest === undefined, given.length === taken.length);
                if (oldest === undefined || step === "look") continue;
                taken.push(...oldest.lines);
                await spool.remove(oldest.segment);
              }
            }
            taken.push(...(await drain(spool)));
            assert.deepEqual(taken, given);
            assert.equal(spool.bytes, 0);
            assert.equal(spool.isEmpty, true);
            await spool.close();
            assert.deepEqual(await readdir(folder), []);
          });
        },
      ),
      { numRuns: 15 },
    );
  });

  it("appends and gives out at the same time", async () => {
    await inFolder(async (folder) => {
      const spool = await open(folder);
      const taken: string[] = [];
      const taking = (async () => {
        while (taken.length < 3_000) {
          taken.push(...(await drain(spool)));
          await new Promise((resolve) => setImmediate(resolve));
        }
      })();
      for (let n = 0; n < 300; n += 1) await spool.append(linesOf(n * 10, n * 10 + 10, 500));
      await taking;
      assert.deepEqual(taken, linesOf(0, 3_000, 500));
      await spool.close();
    });
  });

  it("is bounded: what has no room is not written, and there is room again when lines have left", async () => {
    await inFolder(async (folder) => {
      const spool = await open(folder, 100);
      const full = { busy: false, code: "SPOOL_FULL", message: "the spool is full (100 bytes)" };
      assert.deepEqual(await spool.append(linesOf(0, 7)), { written: 5, error: full });
      assert.deepEqual(await spool.append(linesOf(5, 7)), { written: 0, error: full });
      assert.equal(spool.bytes, 100);
      assert.deepEqual(await drain(spool), linesOf(0, 5));
      assert.deepEqual(await spool.append(linesOf(5, 7)), { written: 2 });
      assert.deepEqual(await drain(spool), linesOf(5, 7));
      await spool.close();
    });
  });

  it("counts what an earlier process has left", async () => {
    await inFolder(async (folder) => {
      const earlier = await open(folder, 100);
      await earlier.append(linesOf(0, 4));
      await earlier.close();
      const spool = await open(folder, 100);
      assert.equal(spool.bytes, 80);
      assert.equal((await spool.append(linesOf(4, 6))).written, 1);
      assert.deepEqual(await drain(spool), linesOf(0, 5));
      await spool.close();
    });
  });

  it("cuts off a last line that is not complete, and goes on in another file", async () => {
    await inFolder(async (folder) => {
      const earlier = await open(folder);
      await earlier.append(linesOf(0, 3));
      await earlier.close();
      const [name = ""] = await segmentsOf(folder);
      await appendFile(join(folder, name), '{"torn":');
      const spool = await open(folder);
      await spool.append(linesOf(3, 4));
      assert.deepEqual(await drain(spool), linesOf(0, 4));
      await spool.close();
    });
  });

  it("takes no harm from a file with nothing but a torn line, an empty one, or one that somebody took away", async () => {
    await inFolder(async (folder) => {
      for (let n = 0; n < 4; n += 1) {
        const earlier = await open(folder);
        await earlier.append(linesOf(n, n + 1));
        await earlier.close(); // the next line goes to another file
      }
      const [, torn = "", empty = ""] = await segmentsOf(folder);
      await writeFile(join(folder, torn), "{");
      await writeFile(join(folder, empty), "");
      const spool = await open(folder);
      const [first = ""] = await segmentsOf(folder);
      await rm(join(folder, first));
      assert.deepEqual(await drain(spool), linesOf(3, 4));
      assert.equal(spool.bytes, 0);
      await spool.close();
    });
  });

  it("leaves files alone that are not its own", async () => {
    await inFolder(async (folder) => {
      await writeFile(join(folder, "notes.ndjson"), "mine\n");
      await mkdir(join(folder, "000000000001-00000000.ndjson.d"));
      const spool = await open(folder);
      assert.equal(spool.isEmpty, true);
      await spool.close();
      assert.equal(await readFile(join(folder, "notes.ndjson"), "utf8"), "mine\n");
    });
  });

  it("can be read by its owner only", async () => {
    await inFolder(async (folder) => {
      const directory = join(folder, "a", "b");
      const spool = await open(directory);
      await spool.append(linesOf(0, 1));
      await spool.setAside("{}\n");
      const [name = ""] = await segmentsOf(directory);
      const modes = await Promise.all(
        [directory, join(directory, name), join(directory, "rejected.log")].map(
          async (path) => (await stat(path)).mode & 0o777,
        ),
      );
      assert.deepEqual(modes, [0o700, 0o600, 0o600]);
      await spool.close();
    });
  });

  it("writes nothing after it was closed", async () => {
    await inFolder(async (folder) => {
      const spool = await open(folder);
      await spool.close();
      assert.equal((await spool.append(linesOf(0, 1))).error?.code, "SPOOL_CLOSED");
      assert.deepEqual(await readdir(folder), []);
    });
  });

  it("loses no line that was written before a disk was full, and goes on when it is not", async () => {
    await inFolder(async (folder) => {
      // the kernel writes what fits below the limit, cutting a line, and refuses the rest
      const command = `ulimit -S -f 100; trap '' XFSZ; exec '${process.execPath}' '${SPOOLER}' '${folder}' 200 997 once`;
      const child = spawn("sh", ["-c", command], { stdio: ["ignore", "pipe", "inherit"] });
      let said = "";
      child.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
      await once(child, "close");
      const errors = said.split("\n").filter((word) => word.startsWith("error"));
      assert.ok(errors.length > 0 && errors.every((word) => word === "error EFBIG"), said);
      const written = Number(/\bwritten (\d+)\n$/.exec(said)?.[1]);
      const spool = await open(folder);
      assert.deepEqual(await drain(spool), linesOf(0, written, 997));
      assert.ok(written > 20);
      await spool.close();
    });
  });

  describe("when the process is killed", () => {
    it("keeps every line that was acknowledged, once and in order, and the next process takes it over", async () => {
      await inFolder(async (folder) => {
        let begun = 0;
        for (let round = 0; round < 4; round += 1) {
          const child = spawn(process.execPath, [SPOOLER, folder, "1000000", "500", "go on", String(begun)], {
            stdio: ["ignore", "pipe", "inherit"],
          });
          let acknowledged = begun;
          let left = 5 + round * 7;
          child.stdout.setEncoding("utf8").on("data", (text: string) => {
            for (const [, n] of text.matchAll(/^written (\d+)$/gm)) acknowledged = Number(n);
            left -= 1;
            if (left === 0) child.kill("SIGKILL");
          });
          assert.deepEqual(await once(child, "close"), [null, "SIGKILL"]);
          const spool = await open(folder);
          const found = await drain(spool);
          await spool.close();
          assert.deepEqual(found, linesOf(begun, begun + found.length, 500), "in order, none missing");
          assert.ok(begun + found.length >= acknowledged, `${begun + found.length} of ${acknowledged}`);
          assert.ok(found.length > 0);
          begun += found.length;
        }
      });
    });
  });

  describe("two of one folder", () => {
    it("are refused in one process and in two", async () => {
      await inFolder(async (folder) => {
        const first = await open(folder);
        await assert.rejects(open(folder), SpoolLockedError);
        await first.close();
        const child = spawn(process.execPath, [SPOOLER, folder, "0", "20", "hold"], {
          stdio: ["pipe", "pipe", "inherit"],
        });
        await once(child.stdout, "data");
        await assert.rejects(open(folder), SpoolLockedError);
        child.kill("SIGKILL");
        await once(child, "exit");
        await (await open(folder)).close();
        assert.deepEqual(await readdir(folder), []);
      });
    });

    it("do not come about when several take over what a dead one has left", async () => {
      await inFolder(async (folder) => {
        const lock = join(folder, "lock");
        const dead = { host: hostname(), pid: process.pid, started: "1" }; // the id is used again
        await writeFile(lock, JSON.stringify(dead));
        const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => open(folder)));
        const spools = outcomes.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
        assert.equal(spools.length, 1);
        await spools[0]?.close();
        assert.deepEqual(await readdir(folder), []);
      });
    });

    it("are kept apart over hosts by how long ago the lock was touched", async () => {
      await inFolder(async (folder) => {
        const path = join(folder, "lock");
        await writeFile(path, JSON.stringify({ host: "elsewhere", pid: 1, started: "1" }));
        assert.equal(takeProcessLock(path), undefined);
        const longAgo = new Date(Date.now() - 61_000);
        await utimes(path, longAgo, longAgo);
        const lock = takeProcessLock(path);
        assert.ok(lock);
        assert.equal(takeProcessLock(path), undefined);
        lock.release();
      });
    });

    it("a lock that another has taken meanwhile is not released", async () => {
      await inFolder(async (folder) => {
        const path = join(folder, "lock");
        const lock = takeProcessLock(path);
        await rm(path);
        const other = takeProcessLock(path);
        assert.ok(lock && other);
        lock.release();
        assert.ok((await stat(path)).isFile());
        other.release();
        assert.deepEqual(await readdir(folder), []);
      });
    });

    it("a lock with nonsense in it holds for a while, and no longer", async () => {
      await inFolder(async (folder) => {
        const path = join(folder, "lock");
        await writeFile(path, "\0\0\0");
        assert.equal(takeProcessLock(path), undefined);
        await utimes(path, new Date(0), new Date(0));
        takeProcessLock(path)?.release();
        assert.deepEqual(await readdir(folder), []);
      });
    });
  });
});
