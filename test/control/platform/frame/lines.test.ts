import assert from "node:assert/strict";
import { readRoute, type Route } from "../../../../src/control/platform/frame/route.ts";
import type { ControlContext } from "../../../../src/control/platform/context.ts";
import { FULL_KEY, startControl, type RunningControl } from "../../../support/control.ts";
import { eventually } from "../../../support/eventually.ts";

describe("an answer of lines that breaks off", () => {
  let api: RunningControl;
  let logged: [level: string, fields: object, message: string][];
  let fails: boolean;

  async function* lines() {
    for (let index = 0; ; index += 1) {
      if (index === 20 && fails) throw new Error("the database is away");
      yield { index, text: "x".repeat(10_000) };
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  function routes(context: ControlContext): readonly Route[] {
    const keep = (level: string) => (fields: object | string, message?: string) =>
      void logged.push([level, Object(fields), message ?? ""]);
    Object.assign(context, { log: { ...context.log, info: keep("info"), error: keep("error") } });
    return [
      readRoute({
        ...{ method: "get", path: "/lines", operation: "readLines", summary: "Lines", tag: "things" },
        ...{
          group: "management",
          permission: "read",
          tenancy: "handler",
          answers: { 200: null },
          lines: true,
        },
        read: () => Promise.resolve({ kind: "lines", lines: lines() }),
      }),
    ];
  }

  before(async () => {
    api = await startControl({ routes });
  });
  beforeEach(() => {
    logged = [];
    fails = false;
  });
  after(() => api.close());

  const ask = (signal: AbortSignal) =>
    fetch(`${api.url}/v1/lines`, {
      signal,
      headers: {
        authorization: `Bearer ${Buffer.from(JSON.stringify(FULL_KEY)).toString("base64url")}`,
        accept: "application/x-ndjson",
      },
    });

  it("is a line of information where its client has left", async () => {
    const gone = new AbortController();
    const answer = await ask(gone.signal);
    const reader = answer.body!.getReader();
    await reader.read();
    gone.abort();
    await eventually("the line", () => logged.length > 0);
    const [[level, fields, message] = []] = logged;
    assert.deepEqual([level, message], ["info", "the client disconnected during an export"]);
    assert.deepEqual(Object.keys(fields ?? {}), ["request_id"]);
    assert.equal(logged.length, 1);
  });

  it("is an error, with its cause, where something else went wrong", async () => {
    fails = true;
    const answer = await ask(new AbortController().signal);
    await assert.rejects(answer.text());
    const [[level, fields] = []] = logged;
    assert.equal(level, "error");
    assert.match(String((fields as { err?: Error }).err), /the database is away/);
  });
});
