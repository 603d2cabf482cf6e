import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { runInNewContext } from "node:vm";
import { build } from "esbuild";
import { REFUSAL_REASONS } from "../../src/refusal-reasons.ts";
import { canonicalize, readBody, REFUSAL_CHECKS, type RawRequest } from "../../src/request/index.ts";
import { CHECKS } from "../../src/request/checks/index.ts";

const entry = new URL("../../src/request/index.ts", import.meta.url).pathname;

const raw: RawRequest = {
  method: "POST",
  target: "/caf%C3%A9?a=1",
  scheme: "https",
  host: "app.test",
  protocol: "HTTP/2",
  headers: [["content-type", "application/json"]],
  body: { bytes: new TextEncoder().encode('{"a":1}'), complete: true },
};

describe("request: the room itself", () => {
  it("is bundled for a platform without I/O, runs where there is nothing but ECMAScript and TextDecoder", async () => {
    const { outputFiles, metafile } = await build({
      entryPoints: [entry],
      bundle: true,
      write: false,
      metafile: true,
      platform: "neutral",
      format: "iife",
      globalName: "room",
    });
    const outside = Object.keys(metafile.inputs).filter(
      (file) => !/src\/(?:json|text|names|request)\//.test(file),
    );
    assert.deepEqual(outside, []);
    const code = `${outputFiles[0]?.text ?? ""}
      const read = room.canonicalize(raw);
      JSON.stringify([read.request.segments, room.readBody(read.request).json]);`;
    assert.equal(runInNewContext(code, { TextDecoder, raw }), JSON.stringify([["caf\u00e9"], { a: 1 }]));
  });

  it("makes its checks in the published order, and each has a reason", () => {
    const made = CHECKS.map(({ check }) => check);
    assert.deepEqual(REFUSAL_CHECKS.slice(0, made.length), made);
    assert.deepEqual(Object.keys(REFUSAL_REASONS).sort(), [...REFUSAL_CHECKS].sort());
  });

  it("says in its README what each check is", () => {
    const readme = readFileSync(new URL("../../src/request/README.md", import.meta.url), "utf8");
    const listed = [...readme.matchAll(/^\| `([a-z0-9_]+)` +\|/gm)].map(([, name]) => name);
    assert.deepEqual(listed, [...REFUSAL_CHECKS]);
  });

  it("changes nothing of what it is given, and gives nothing that has a prototype to pollute", () => {
    const frozen = Object.freeze({
      ...raw,
      headers: Object.freeze(raw.headers.map((pair) => Object.freeze(pair))),
    });
    const outcome = canonicalize(frozen);
    assert.ok(outcome.ok);
    assert.equal(outcome.request.body, raw.body);
    assert.equal(Object.getPrototypeOf(outcome.request.headers), null);
    assert.equal(Object.getPrototypeOf(outcome.request.query), null);
    const body = readBody(outcome.request);
    assert.ok(body.ok);
    assert.equal(Object.getPrototypeOf(body.json), null);
  });

  it("quotes at most 60 characters of what it refuses", () => {
    const detail = (segment: string) => {
      const outcome = canonicalize({ ...raw, target: `/${segment}%` });
      return outcome.ok ? "" : outcome.refusal.detail;
    };
    assert.ok(detail("x".repeat(59)).includes(`\`${"x".repeat(59)}%\``));
    assert.ok(detail("x".repeat(60)).includes(`\`${"x".repeat(60)}...\``));
    assert.ok(detail("\x80".repeat(60)).length <= 200);
  });

  it("bounds the depth of JSON whatever it is told", () => {
    const text = "[".repeat(100_000);
    const outcome = canonicalize({ ...raw, body: { bytes: new TextEncoder().encode(text), complete: true } });
    assert.ok(outcome.ok);
    const body = readBody(outcome.request, { maxDepth: Infinity });
    // whichever ends first, the stack or the number of values
    const ends = ["malformed_json", "too_many_json_values"];
    assert.ok(!body.ok && ends.includes(body.refusal.check));
  });
});
