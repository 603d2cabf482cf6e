import assert from "node:assert/strict";
import fc from "fast-check";
import {
  canonicalize,
  readBody,
  REFUSAL_CHECKS,
  type CanonicalRequest,
  type RawRequest,
  type RefusalCheck,
} from "../../src/request/index.ts";
import { runs } from "../support/runs.ts";

const RUNS = { numRuns: runs(2000) };

function oneOf(characters: string): fc.Arbitrary<string> {
  return fc.constantFrom(...characters.split(""));
}

/** Text of what matters to the checks, and of any byte. */
const bytes = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: oneOf("/.?&=%;#\\+*@:,[]_a2fe \t\r\n\0") },
      {
        weight: 3,
        arbitrary: fc.constantFrom(
          "%2e",
          "%2F",
          "%5c",
          "%25",
          "%00",
          "%3b",
          "%c3%a9",
          "%e9",
          "..",
          "//",
          "%ef%bc%8f",
        ),
      },
      { weight: 1, arbitrary: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)) },
    ),
  )
  .map((pieces) => pieces.join(""));

const name = fc.oneof(
  fc.constantFrom(
    "host",
    "authorization",
    "content-length",
    "transfer-encoding",
    "connection",
    "x-a",
    "__proto__",
  ),
  fc.constantFrom("content-type", "content-encoding", "x-http-method-override", "x-original-url"),
  bytes,
);
const value = fc.oneof(fc.constantFrom("app.test", "5", "chunked", "application/json", "Bearer a"), bytes);

const rawRequest: fc.Arbitrary<RawRequest> = fc
  .record({
    method: fc.oneof(fc.constantFrom("GET", "POST", "OPTIONS", "get"), bytes),
    target: fc.oneof(
      bytes,
      bytes.map((text) => `/${text}`),
      bytes.map((text) => `http://app.test/${text}`),
    ),
    scheme: fc.oneof(fc.constantFrom("http", "https"), bytes),
    host: fc.oneof(fc.constantFrom("app.test", "App.Test:80"), bytes),
    protocol: fc.constantFrom("HTTP/1.1", "HTTP/2", ""),
    headers: fc.array(fc.tuple(name, value), { maxLength: 6 }),
    body: fc.option(
      fc.record({
        bytes: fc.oneof(
          fc.uint8Array(),
          fc.json().map((text) => new TextEncoder().encode(text)),
        ),
        complete: fc.boolean(),
      }),
      { nil: undefined },
    ),
  })
  .map(({ body, ...raw }) => (body === undefined ? raw : { ...raw, body }));

/** A request in which only the target is out of the ordinary. */
const ordinary = (target: string, method = "GET"): RawRequest => ({
  method,
  target,
  scheme: "https",
  host: "app.test",
  protocol: "HTTP/1.1",
  headers: [],
});

const TOO_MANY_READINGS = "the request has too many possible readings";
const switches = fc.subarray([...REFUSAL_CHECKS]).map((checks) => new Set<RefusalCheck>(checks));

function sanePath({ segments, path }: CanonicalRequest): void {
  for (const segment of segments) {
    assert.doesNotMatch(segment, /^$|^\.{1,2}$|[\0-\x1f\x7f-\x9f/\\;]/);
    assert.ok(segment.isWellFormed());
  }
  assert.match(path, /^\/[\x21-\x7e]*$/);
  assert.doesNotMatch(path, /\/\/|[?#\\]/);
}

describe("request: properties", () => {
  it("any request is read or refused, whatever is switched off; nothing is thrown", () => {
    fc.assert(
      fc.property(rawRequest, switches, (raw, switchedOff) => {
        const outcome = canonicalize(raw, { switchedOff });
        if (!outcome.ok) {
          assert.match(outcome.refusal.detail, /^[\x20-\x7e]{1,200}$/);
          return;
        }
        assert.ok(outcome.accepted.every((check) => switchedOff.has(check)));
        const body = readBody(outcome.request, { switchedOff });
        if (!body.ok) assert.match(body.refusal.detail, /^[\x20-\x7e]{1,200}$/);
      }),
      RUNS,
    );
  });

  it("any text at all is read or refused, even what is not bytes", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (one, other) => {
        const raw: RawRequest = { ...ordinary(`/${one}`), host: other, headers: [[one, other]] };
        canonicalize(raw);
        const lenient = canonicalize(raw, { switchedOff: new Set(REFUSAL_CHECKS) });
        assert.ok(lenient.ok || lenient.refusal.detail === TOO_MANY_READINGS);
      }),
      RUNS,
    );
  });

  it("no segment of an accepted path is empty, a dot segment, or holds a delimiter or control character", () => {
    let accepted = 0;
    fc.assert(
      fc.property(bytes, (text) => {
        const outcome = canonicalize(ordinary(`/${text}`));
        if (!outcome.ok) return;
        accepted += 1;
        sanePath(outcome.request);
      }),
      { numRuns: runs(10_000) },
    );
    assert.ok(accepted > 100, `only ${accepted} of the generated paths were accepted`);
  });

  it("the canonical path is read as itself", () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(bytes, fc.string({ unit: "grapheme" })), { maxLength: 5 }),
        fc.boolean(),
        (texts, slash) => {
          const target = `/${texts.map(encodeURIComponent).join("/")}${slash ? "/" : ""}`;
          const first = canonicalize(ordinary(target));
          if (!first.ok) return;
          const second = canonicalize(ordinary(first.request.path));
          assert.ok(second.ok, first.request.path);
          assert.equal(second.request.path, first.request.path);
          assert.deepEqual(second.request.segments, first.request.segments);
        },
      ),
      RUNS,
    );
  });

  it("segments and parameters come out as they were before encoding", () => {
    const word = fc.string({ unit: "grapheme", minLength: 1 }).filter((text) => text.isWellFormed());
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 4 }), word, (segments, parameter) => {
        const path = segments.map(encodeURIComponent).join("/");
        const outcome = canonicalize(ordinary(`/${path}?q=${encodeURIComponent(parameter)}`));
        if (!outcome.ok) return;
        assert.deepEqual(outcome.request.segments, segments);
        assert.deepEqual(outcome.request.query["q"], [parameter]);
      }),
      RUNS,
    );
  });

  it("what is said of a refused path shows no value of a path parameter", () => {
    for (const target of [
      "/account;jsessionid=S3CRET",
      "/account%3bjsessionid=S3CRET/x",
      "/a%3ftoken=S3CRET",
    ]) {
      const outcome = canonicalize(ordinary(target));
      assert.ok(!outcome.ok && !outcome.refusal.detail.includes("S3CRET"), target);
    }
  });

  it("encoding one more character of an accepted path changes nothing, or is refused", () => {
    const segment = fc.stringMatching(/^[a-z][a-z0-9.~!$,:@-]{0,8}$/).filter((text) => !text.includes(":$"));
    fc.assert(
      fc.property(fc.array(segment, { minLength: 1, maxLength: 4 }), fc.nat(), (segments, pick) => {
        const path = `/${segments.join("/")}`;
        const at = pick % path.length;
        const code = path.charCodeAt(at).toString(16).padStart(2, "0");
        const encoded = `${path.slice(0, at)}%${code}${path.slice(at + 1)}`;
        const outcome = canonicalize(ordinary(encoded));
        if (path[at] === "/") assert.ok(!outcome.ok);
        // a character that needs no encoding is matched by some as it is sent
        else if (/[\w.-]/.test(path[at] ?? ""))
          assert.ok(!outcome.ok && outcome.refusal.check === "encoded_unreserved", encoded);
        else assert.ok(outcome.ok && outcome.request.path === path, encoded);
      }),
      RUNS,
    );
  });

  it("what one check refuses is accepted and reported, or refused by a later one, once it is switched off", () => {
    fc.assert(
      fc.property(rawRequest, (raw) => {
        const switchedOff = new Set<RefusalCheck>();
        const refused: RefusalCheck[] = [];
        for (;;) {
          const outcome = canonicalize(raw, { switchedOff });
          if (outcome.ok) {
            assert.deepEqual(outcome.accepted, refused);
            return;
          }
          const { check, detail } = outcome.refusal;
          if (switchedOff.has(check)) {
            if (detail !== TOO_MANY_READINGS) assert.equal(check, "malformed_target");
            return;
          }
          refused.push(check);
          switchedOff.add(check);
        }
      }),
      RUNS,
    );
  });

  it("JSON is read as JSON.parse reads it, whenever it is read", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(0, 1, "\t"), (json, indent) => {
        const text = JSON.stringify(json, null, indent);
        const outcome = readBody(jsonRequest(text));
        if (outcome.ok) assert.equal(JSON.stringify(outcome.json), JSON.stringify(JSON.parse(text)));
        else assert.match(outcome.refusal.check, /^(malformed_json|similar_json_members|inexact_number)$/);
      }),
      RUNS,
    );
  });

  it("what JSON.parse refuses is refused", () => {
    const text = fc.array(oneOf('{}[]:,"\\u0012.eE+- \ntrufalsn')).map((pieces) => pieces.join(""));
    fc.assert(
      fc.property(text, (body) => {
        const outcome = readBody(jsonRequest(body));
        if (body === "" || !outcome.ok) return;
        assert.equal(JSON.stringify(outcome.json), JSON.stringify(JSON.parse(body)));
      }),
      { numRuns: runs(10_000) },
    );
  });

  it("every number that a double prints is exact, but for digits of an integer that it is not", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
        const rounded = Number.isInteger(number) && String(BigInt(number)) !== String(number);
        for (const text of [...(rounded ? [] : [String(number)]), number.toExponential()]) {
          const outcome = readBody(jsonRequest(text));
          assert.ok(outcome.ok, text);
          assert.equal(outcome.json, Number(text));
        }
      }),
      RUNS,
    );
  });
});

function jsonRequest(text: string): CanonicalRequest {
  return {
    method: "POST",
    segments: [],
    path: "/",
    query: {},
    headers: { "content-type": ["application/json"] },
    scheme: "https",
    host: "app.test",
    protocol: "HTTP/1.1",
    body: { bytes: new TextEncoder().encode(text), complete: true },
  };
}
