import assert from "node:assert/strict";
import { Router } from "express";
import { ApiError } from "../../../../src/control/platform/errors.ts";
import { readRoute, type Route } from "../../../../src/control/platform/frame/route.ts";
import type { ControlContext } from "../../../../src/control/platform/context.ts";
import { FULL_KEY, startControl, type RunningControl } from "../../../support/control.ts";
import { eventually } from "../../../support/eventually.ts";

describe("an answer of lines that breaks off", () => {
  let api: RunningControl;
  let logged: [level: string, fields: object, message: string][];
  let fails: boolean;

  let first: Promise<unknown>;
  let asked: number;
  /** Responses that are complete, or whose client has left. */
  let ended: number;
  async function* lines() {
    asked += 1;
    await first;
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
    const counting = Router().use((_request, response, next) => {
      response.once("close", () => (ended += 1));
      next();
    });
    api = await startControl({ routes, beside: () => [counting] });
  });
  beforeEach(() => {
    ended = 0;
    logged = [];
    fails = false;
    asked = 0;
    first = Promise.resolve();
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

  it("is a line of information where its client has left before there is anything to send", async () => {
    const found = Promise.withResolvers<null>();
    first = found.promise;
    const gone = new AbortController();
    const answer = ask(gone.signal);
    await eventually("it to begin", () => asked === 1);
    gone.abort();
    await assert.rejects(answer);
    await eventually("the server to notice", () => ended === 1);
    found.resolve(null);
    await eventually("the line", () => logged.length > 0);
    assert.deepEqual(
      logged.map(([level, , message]) => [level, message]),
      [["info", "the client disconnected during an export"]],
    );
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

describe("exports of one caller at once", () => {
  const OTHER_KEY = { ...FULL_KEY, id: "key_00000000000000000000000002" };
  let api: RunningControl;
  let running: number;
  let most: number;
  let mayGoOn: (nothing: null) => void;
  let gate: Promise<null>;

  const about = { group: "management", permission: "read", tenancy: "handler", tag: "things" } as const;
  async function* numbers(fails: boolean) {
    if (fails) throw new ApiError("INVALID_PARAMETER");
    running += 1;
    most = Math.max(most, running);
    try {
      for (let n = 0; n < 3; n += 1) {
        yield n;
        await gate;
      }
    } finally {
      running -= 1;
    }
  }
  const routes = () =>
    (["/lines", "/failing"] as const).map((path) =>
      readRoute({
        ...{ method: "get", path, operation: path.slice(1), summary: "Lines", ...about },
        ...{ answers: { 200: null }, lines: true },
        read: () => Promise.resolve({ kind: "lines", lines: numbers(path === "/failing") }),
      }),
    );

  before(async () => {
    api = await startControl({ routes });
  });
  beforeEach(() => {
    running = 0;
    most = 0;
    ({ promise: gate, resolve: mayGoOn } = Promise.withResolvers<null>());
  });
  after(() => api.close());

  const ask = (as: object, path = "/lines", signal?: AbortSignal) =>
    fetch(`${api.url}/v1${path}`, {
      ...(signal && { signal }),
      headers: {
        authorization: `Bearer ${Buffer.from(JSON.stringify(as)).toString("base64url")}`,
        accept: "application/x-ndjson",
      },
    });

  it("wait for their turn, or are refused before anything is sent; none is cut off", async () => {
    const refused: number[] = [];
    const all = Array.from({ length: 60 }, async () => {
      const answer = await ask(FULL_KEY);
      if (answer.status !== 200) {
        refused.push(answer.status);
        assert.ok(Number(answer.headers.get("retry-after")) > 0);
        return ((await answer.json()) as { error: { code: string } }).error.code;
      }
      return answer.text();
    });
    await eventually("those beyond what may wait are refused", () => refused.length === 38);
    const others = await ask(OTHER_KEY);
    assert.equal(others.status, 200, "others do not wait for them");
    mayGoOn(null);
    const texts = await Promise.all(all);
    assert.equal(texts.filter((text) => text === "0\n1\n2\n").length, 22);
    assert.equal(texts.filter((text) => text === "RATE_LIMIT_EXCEEDED").length, 38);
    assert.deepEqual(new Set(refused), new Set([429]));
    assert.equal(await others.text(), "0\n1\n2\n");
    assert.equal(most, 3);
  });

  it("give up their turn when their client leaves, or when they fail", async () => {
    const gone = new AbortController();
    const left = await Promise.all([1, 2].map(() => ask(FULL_KEY, "/lines", gone.signal)));
    assert.deepEqual(
      left.map(({ status }) => status),
      [200, 200],
    );
    gone.abort();
    mayGoOn(null);
    await eventually("both to end", () => running === 0);
    for (let n = 0; n < 5; n += 1) {
      const failed = await ask(FULL_KEY, "/failing");
      assert.equal(failed.status, 400, "what fails at once gets an error");
      assert.match(failed.headers.get("content-type") ?? "", /^application\/json/);
    }
    assert.equal(await (await ask(FULL_KEY)).text(), "0\n1\n2\n");
  });
});
