import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readdir, readFile, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { inFolder } from "./support/wait.ts";

const WRITER = join(import.meta.dirname, "support", "writer.ts");
const NAMES = ["a", "b", "c", "d"];
const EACH = 600;

/** Runs the command of a shell and gives what it wrote. */
async function shell(command: string): Promise<{ code: number | null; output: string; errors: string }> {
  const child = spawn("sh", ["-c", command], { stdio: ["ignore", "pipe", "pipe"] });
  let [output, errors] = ["", ""];
  child.stdout.setEncoding("latin1").on("data", (text: string) => (output += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { code, output, errors };
}

/** A shell command that runs all writers at once and fails where one of them does. */
function allWriters(destination: string): string {
  const writer = (name: string) => `'${process.execPath}' '${WRITER}' ${name} ${EACH} ${destination}`;
  return `pids=; for name in ${NAMES.join(" ")}; do ${writer("$name")} & pids="$pids $!"; done; for pid in $pids; do wait $pid || exit 1; done`;
}

/** Every record of every writer is there, once, whole; and those of one writer are in order. */
function assertComplete(output: string): void {
  const lines = output.split("\n");
  assert.equal(lines.pop(), "", "the last line is ended");
  const ids = lines.map((line) => (JSON.parse(line) as { request_id: string }).request_id);
  for (const name of NAMES) {
    const own = ids.filter((id) => id.startsWith(`${name}-`));
    assert.deepEqual(own.toSorted(), Array.from({ length: EACH }, (_, i) => `${name}-${i}`).toSorted());
  }
  assert.equal(ids.length, NAMES.length * EACH);
}

describe("audit: several processes", () => {
  it("append to and rotate one file", async () => {
    await inFolder(async (folder) => {
      const path = join(folder, "audit.log");
      const maxBytes = 30_000;
      const { code, errors } = await shell(allWriters(`'${path}' ${maxBytes}`));
      assert.deepEqual({ code, errors }, { code: 0, errors: "" });
      const names = await readdir(folder);
      assert.ok(names.length > 10, `rotated: ${names.length} files`);
      assert.ok(!names.some((name) => name.includes("lock")), "no lock is left");
      const numbers = names
        .map((name) => Number(name.slice("audit.log.".length) || 0))
        .toSorted((a, b) => a - b);
      assert.deepEqual(
        numbers,
        numbers.map((_, i) => i + (numbers[0] ?? 0)),
        "numbered without gaps",
      );
      const contents = await Promise.all(
        numbers.map((n) => readFile(n === 0 ? path : `${path}.${n}`, "latin1")),
      );
      assertComplete(contents.toReversed().join(""));
    });
  });

  it("rotate although a process died in the middle of it", async () => {
    await inFolder(async (folder) => {
      const path = join(folder, "audit.log");
      await writeFile(`${path}.lock`, "");
      await utimes(`${path}.lock`, new Date(0), new Date(0));
      const { code, errors } = await shell(allWriters(`'${path}' 100000`));
      assert.deepEqual({ code, errors }, { code: 0, errors: "" });
      const names = (await readdir(folder)).filter((name) => name !== "audit.log");
      assert.ok(
        names.includes("audit.log.1") && !names.some((name) => name.includes("lock")),
        names.join(" "),
      );
      const contents = await Promise.all(names.map((name) => readFile(join(folder, name), "latin1")));
      assertComplete(contents.join("") + (await readFile(path, "latin1").catch(() => "")));
    });
  });

  it("leave the rotation to the one that holds the lock", async () => {
    await inFolder(async (folder) => {
      const path = join(folder, "audit.log");
      await writeFile(`${path}.lock`, "");
      const { code } = await shell(allWriters(`'${path}' 10000`));
      assert.equal(code, 0);
      assert.deepEqual((await readdir(folder)).toSorted(), ["audit.log", "audit.log.lock"]);
      assert.ok((await stat(path)).size > 10_000);
      assertComplete(await readFile(path, "latin1"));
    });
  });

  it("share a pipe", async () => {
    // the shell reads byte by byte: the pipe is full all the time, where longer writes would be cut and mixed
    const reader = `while IFS= read -r line; do printf '%s\\n' "$line"; done`;
    const { code, output, errors } = await shell(
      `( ${allWriters("stdout")}; echo "code $?" >&2 ) | { ${reader}; }`,
    );
    assert.deepEqual({ code, errors }, { code: 0, errors: "code 0\n" });
    assertComplete(output);
  });

  it("share a socket", async () => {
    const { code, output, errors } = await shell(allWriters("stdout"));
    assert.deepEqual({ code, errors }, { code: 0, errors: "" });
    assertComplete(output);
  });

  it("share a file that standard output is redirected to", async () => {
    await inFolder(async (folder) => {
      const path = join(folder, "out");
      const { code, errors } = await shell(`( ${allWriters("stdout")} ) > '${path}'`);
      assert.deepEqual({ code, errors }, { code: 0, errors: "" });
      assertComplete(await readFile(path, "latin1"));
    });
  });
});
