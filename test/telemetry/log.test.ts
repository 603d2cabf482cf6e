import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { createLog, type LogOptions } from "../../src/telemetry/log.ts";

function memoryLog(level: LogOptions["level"] = "debug") {
  const lines: string[] = [];
  const log = createLog({ level, name: "test", destination: { write: (line) => void lines.push(line) } });
  return { log, lines, last: () => JSON.parse(lines.at(-1) ?? "null") as Record<string, unknown> };
}

describe("telemetry: log", () => {
  it("writes one JSON line a call, with level, name, fields and message", () => {
    const { log, lines, last } = memoryLog();
    log.info({ port: 9090 }, "listening");
    assert.equal(lines.length, 1);
    assert.ok(lines[0]?.endsWith("\n"));
    const { level, name, port, msg } = last();
    assert.deepEqual({ level, name, port, msg }, { level: 30, name: "test", port: 9090, msg: "listening" });
    log.warn("only words");
    assert.deepEqual([last()["level"], last()["msg"]], [40, "only words"]);
  });

  it("writes nothing below its level", () => {
    const { log, lines } = memoryLog("warn");
    log.debug("no");
    log.info({}, "no");
    log.error("yes");
    assert.equal(lines.length, 1);
  });

  it("hides what names a secret, at any depth, and what looks like one", () => {
    const { log, lines } = memoryLog();
    const fields = {
      headers: {
        authorization: "hidden-1",
        Cookie: ["hidden-2"],
        "x-user-token": "hidden-3",
        accept: "text/html",
      },
      config: { deep: [{ client_secret: "hidden-4", password: { nested: "hidden-5" } }] },
      note: "sent Bearer hidden-6 along",
      url: "http://idp.example/?access_token=hidden-7&x=1",
    };
    log.info(fields, "with eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJoaWRkZW4ifQ.hidden-8 inside");
    assert.ok(!lines[0]?.includes("hidden"), lines[0]);
    assert.ok(lines[0]?.includes("text/html"));
  });

  it("spells out control characters", () => {
    const { log, lines, last } = memoryLog();
    log.error({ path: "/a\u001b[31m\u202e" }, "line one\nline two");
    assert.equal(lines[0]?.trimEnd().split("\n").length, 1);
    assert.deepEqual([last()["path"], last()["msg"]], ["/a\\u{1b}[31m\\u{202e}", "line one\\u{a}line two"]);
  });

  it("says what an error was and why", () => {
    const { log, last } = memoryLog();
    const cause = Object.assign(new Error("connection refused"), { code: "ECONNREFUSED" });
    log.error({ err: new TypeError("fetch failed, token=hidden", { cause }) }, "keys cannot be fetched");
    const err = last()["err"] as { type: string; message: string; stack: string; cause: { code: string } };
    assert.deepEqual(
      [err.type, err.message, err.cause.code],
      ["TypeError", "fetch failed, token=***", "ECONNREFUSED"],
    );
    assert.match(err.stack, /log\.test\.ts/);
    assert.ok(!err.stack.includes("hidden"));
  });

  it("survives whatever it is given", () => {
    const { log, lines } = memoryLog();
    const circle: Record<string, unknown> = {};
    circle["self"] = circle;
    const trap = {
      get bad(): string {
        throw new Error("no");
      },
    };
    for (const fields of [
      circle,
      trap,
      { big: 10n, f: () => 1, n: Number.NaN, u: undefined, nil: null },
      [],
    ]) {
      log.info(fields, "%s %d %%");
    }
    assert.equal(lines.length, 4);
    for (const line of lines) assert.doesNotThrow(() => JSON.parse(line) as unknown);
  });

  it("writes to standard error, the last line before the exit included", async () => {
    const module = join(import.meta.dirname, "../../src/telemetry/log.ts");
    const program = `
      import { createLog } from ${JSON.stringify(module)};
      createLog({ level: "info", name: "child" }).error({ n: 1 }, "going down");
      process.exit(0);
    `;
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [
      "--input-type=module",
      "-e",
      program,
    ]);
    assert.equal(stdout, "");
    assert.equal((JSON.parse(stderr) as { msg: string }).msg, "going down");
  });
});
