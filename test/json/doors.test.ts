import assert from "node:assert/strict";
import { Kind, parse } from "graphql";
import { ApiError } from "../../src/control/platform/errors.ts";
import { parseJsonBody } from "../../src/control/platform/frame/json-text.ts";
import { argumentsOf } from "../../src/graphql/literals.ts";
import { readJson } from "../../src/graphql/index.ts";
import { isExactValue } from "../../src/json/index.ts";
import { parseTokenJson } from "../../src/identity/token-json.ts";
import type { Expression, PlannedField } from "../../src/policy/index.ts";
import { maskDocument } from "../../src/policy/mask/index.ts";
import { evaluateMessage } from "../../src/policy/message/index.ts";
import { canonicalize, readBody, type Switch } from "../../src/request/index.ts";
import { MALFORMED, WELL_FORMED } from "../cases/json/documents.ts";
import { NUMBERS_BY_EXACTNESS } from "../cases/json/numbers.ts";

function bodyOf(json: string | Uint8Array, switchedOff: readonly Switch[] = []) {
  const bytes = typeof json === "string" ? new TextEncoder().encode(json) : json;
  const canonical = canonicalize({
    method: "POST",
    target: "/",
    scheme: "https",
    host: "app.test",
    protocol: "HTTP/2",
    headers: [["content-type", "application/json"]],
    body: { bytes, complete: true },
  });
  assert.ok(canonical.ok);
  return readBody(canonical.request, { switchedOff: new Set(switchedOff), maxDepth: 256 });
}

function isRefused(body: string | Uint8Array): boolean {
  try {
    parseJsonBody(typeof body === "string" ? new TextEncoder().encode(body) : body);
    return false;
  } catch (error) {
    assert.ok(error instanceof ApiError && error.code === "MALFORMED_JSON");
    return true;
  }
}

/** `path == value`, as policies are compiled. */
function equals(path: readonly [string, string], value: number): Expression {
  return { op: "==", left: { op: "attribute", path }, right: { op: "literal", value } };
}

/** Its values are kept without their text. */
const API = "a body of the API";

/** What each door makes of `{"n":literal}`: the number, or NaN where it compares it with nothing. */
const DOORS: Readonly<Record<string, (literal: string) => unknown>> = {
  "a request body whose check is switched off"(literal) {
    const read = bodyOf(`{"n":${literal}}`, ["inexact_number"]);
    return read.ok && (read.json as { n: number }).n;
  },
  "a request body"(literal) {
    const read = bodyOf(`{"n":${literal}}`);
    if (read.ok) return (read.json as { n: number }).n;
    assert.equal(read.refusal.check, "inexact_number");
    return NaN;
  },
  "a GraphQL variable": (literal) => (readJson(`{"n":${literal}}`) as { n: number }).n,
  "a GraphQL argument"(literal) {
    const [definition] = parse(`{ f(n: ${literal}) }`).definitions;
    assert.ok(definition?.kind === Kind.OPERATION_DEFINITION);
    const [field] = definition.selectionSet.selections;
    assert.ok(field?.kind === Kind.FIELD);
    return argumentsOf(field.arguments ?? [], new Map())["n"];
  },
  "a masked document"(literal) {
    // left as it is only where the condition is known to be false
    const when: Expression = { op: "not", arg: equals(["item", "n"], Number(literal)) };
    const field: PlannedField = { rule: "r", anchored: false, keys: ["v"], action: { kind: "full" }, when };
    const result = maskDocument(`{"n":${literal},"v":1}`, { fields: [field] }, {});
    assert.ok(result.ok);
    if (result.text === `{"n":${literal},"v":"***"}`) return NaN;
    assert.equal(result.text, `{"n":${literal},"v":1}`);
    return Number(literal);
  },
  "a WebSocket message"(literal) {
    const rules = {
      t: { rule: "r", onDeny: "drop", when: equals(["message", "n"], Number(literal)) },
    } as const;
    return evaluateMessage(rules, `{"type":"t","n":${literal}}`, { env: {} }).permit ? Number(literal) : NaN;
  },
  "a claim"(literal) {
    const read = parseTokenJson(`{"n":${literal}}`);
    return read.ok && read.value["n"];
  },
  [API]: (literal) =>
    isRefused(`{"n":${literal}}`)
      ? NaN
      : (parseJsonBody(new TextEncoder().encode(`{"n":${literal}}`)) as { n: number }).n,
};

describe("json: every door reads numbers alike", () => {
  for (const [door, read] of Object.entries(DOORS)) {
    it(`in ${door}`, () => {
      for (const { literal, exact } of NUMBERS_BY_EXACTNESS)
        assert.equal(
          read(literal),
          exact && (door !== API || isExactValue(Number(literal))) ? Number(literal) : NaN,
          literal.slice(0, 40),
        );
    });
  }

  it("but bodies of the API, of which values are kept without their text", () => {
    for (const literal of ["9007199254740992", "1.2345678901234568e20", "123456789012345680000.0", "1e23"])
      assert.ok(isRefused(`{"n":${literal}}`), literal);
    assert.ok(!isRefused('{"n":[9007199254740991,1e2,0.1,1.5e-300]}'));
  });

  it("and a body that the API does not look into has the nearest double", () => {
    const any = parseJsonBody(new TextEncoder().encode('{"n":9007199254740993,"n":1e400}'), true);
    assert.deepEqual(any, { n: Infinity });
  });
});

describe("json: every door takes the same documents", () => {
  const object = (bytes: Uint8Array) => Buffer.concat([Buffer.from('{"x":'), bytes, Buffer.from("}")]);
  const READS: Readonly<Record<string, (bytes: Buffer) => boolean>> = {
    "a request body": (bytes) => bodyOf(object(bytes)).ok,
    "GraphQL over HTTP"(bytes) {
      try {
        readJson(bytes.toString());
        return true;
      } catch {
        return false;
      }
    },
    "a token": (bytes) => parseTokenJson(object(bytes).toString()).ok,
    [API]: (bytes) => !isRefused(object(bytes)),
  };

  for (const [door, reads] of Object.entries(READS)) {
    it(`refuses what is not JSON in ${door}`, () => {
      for (const { name, bytes } of MALFORMED) {
        const isUtf8 = Buffer.from(bytes.toString()).equals(bytes);
        // these two are handed text; an object around a text can make JSON of what was cut off
        if (isUtf8 && !makesJson(object(bytes).toString())) assert.ok(!reads(bytes), name);
      }
    });

    it(`refuses nothing else in ${door} but for repeated members, depth, size, numbers and texts`, () => {
      let taken = 0;
      for (const { name, bytes } of WELL_FORMED) {
        const text = bytes.toString();
        if (reads(bytes)) taken += 1;
        else assert.ok(isUnusual(text), name);
      }
      assert.ok(taken > 300, String(taken));
    });
  }

  function makesJson(text: string): boolean {
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  }

  /** By other means: a member twice, deep, large, a number that is not exact, half a pair, U+0000. */
  function isUnusual(text: string): boolean {
    const longNumber = /[\d.]{16}|\d[eE][+-]?\d{3}/.test(text);
    const oddText = /\\u(?:[dD][89a-fA-F]|0000)/.test(text);
    const deep = text.split(/[[{]/).length > 30;
    const repeated = text.split(/"(?:a|\\u0061)"/).length > 2;
    return longNumber || oddText || deep || repeated || text.length > 9_000;
  }
});
