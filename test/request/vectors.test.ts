import assert from "node:assert/strict";
import type { JsonValue } from "../../src/json/index.ts";
import { headerNames, memberNames, parameterNames } from "../../src/names/index.ts";
import {
  canonicalize,
  checkNames,
  readBody,
  REFUSAL_CHECKS,
  type CanonicalRequest,
  type Refusal,
  type RefusalCheck,
  type StatedReading,
  type Switch,
  type Variant,
} from "../../src/request/index.ts";
import {
  allVectors,
  join,
  vectorFiles,
  vectorsOf,
  type Vector,
  type VectorCase,
  type VectorReads,
} from "./vector-file.ts";

/** What is accepted is refused all the same where nobody could ask about every reading. */
const TOO_MANY_READINGS = "the request has too many possible readings";

type Outcome =
  | {
      readonly ok: true;
      readonly request: CanonicalRequest;
      readonly others: readonly CanonicalRequest[];
      readonly variants: readonly Variant[];
      readonly accepted: readonly RefusalCheck[];
      readonly json: JsonValue | undefined;
      readonly stated?: StatedReading;
    }
  | { readonly ok: false; readonly refusal: Refusal };

function run(vector: Vector, off: ReadonlySet<Switch>): Outcome {
  const under = vector.case.under?.map(({ below, checks, reading }) => ({
    checks: new Set(checks),
    ...(reading && { reading }),
    covers: (segments: readonly string[]) => below.every((segment, index) => segments[index] === segment),
  }));
  const canonical = canonicalize(vector.raw, { switchedOff: off, ...(under && { under }) });
  if (!canonical.ok) return canonical;
  const { switchedOff } = canonical;
  const read = namesRead(vector.case.reads ?? {});
  const names = checkNames(canonical.request, read, { switchedOff });
  if (!names.ok) return names;
  const accepted = [...canonical.accepted, ...names.accepted];
  if (!vector.readsBody) return { ...canonical, accepted, json: undefined };
  const { max_depth: maxDepth } = vector.case;
  const body = readBody(canonical.request, {
    switchedOff,
    names: read.members,
    ...(maxDepth !== undefined && { maxDepth }),
  });
  if (!body.ok) return body;
  return { ...canonical, accepted: [...accepted, ...body.accepted], json: body.json };
}

function namesRead({ query = [], headers = [], body = [] }: VectorReads) {
  return {
    parameters: parameterNames(query),
    headers: headerNames(headers),
    members: memberNames(body.map((path) => path.split("."))),
  };
}

/** Null prototypes become ordinary ones; members called `__proto__` stay members. */
function plain(value: unknown): unknown {
  return value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown);
}

function queryText({ query }: CanonicalRequest): string {
  const pairs = Object.entries(query).flatMap(([name, values]) =>
    values.map((value) => [name, value] as [string, string]),
  );
  return new URLSearchParams(pairs).toString();
}

function expectReading(expected: VectorCase, outcome: Outcome & { ok: true }): void {
  const { request } = outcome;
  assert.deepEqual(outcome.accepted, expected.accepted ?? []);
  const pairs: [name: keyof VectorCase, actual: unknown][] = [
    ["segments", request.segments],
    ["stated", outcome.stated ?? "none"],
    ["path", request.path],
    ["query", request.query],
    ["canonical_method", request.method],
    ["canonical_host", request.host],
    ["canonical_scheme", request.scheme],
    ["canonical_headers", request.headers],
  ];
  if (expected.others !== undefined) {
    const query = queryText(request);
    const others = outcome.others.map(
      (other) => `${other.method} ${other.path}${queryText(other) === query ? "" : `?${queryText(other)}`}`,
    );
    assert.deepEqual(others.toSorted(), [...expected.others].sort());
  }
  if (expected.variants !== undefined) {
    const variants = outcome.variants.map(({ by, of, request: { path } }) => `${by} ${path} of ${of.path}`);
    assert.deepEqual(variants, expected.variants);
  }
  for (const [name, actual] of pairs) {
    if (expected[name] !== undefined) assert.deepEqual(plain(actual), plain(expected[name]), name);
  }
  const texts: [text: string | undefined, actual: unknown][] = [
    [expected.query_json, request.query],
    [expected.canonical_headers_json, request.headers],
  ];
  for (const [text, actual] of texts) {
    if (text !== undefined) assert.deepEqual(plain(actual), JSON.parse(text));
  }
  if (expected.json === null) assert.equal(outcome.json, undefined);
  else if (expected.json !== undefined) {
    assert.deepEqual(plain(outcome.json), JSON.parse(join(expected.json)));
  }
}

describe("request: vectors", () => {
  for (const file of vectorFiles) {
    describe(file.file, () => {
      for (const vector of vectorsOf(file)) {
        const { refused, switched_off: off = [] } = vector.case;
        it(`${vector.title} ${refused === undefined ? "passes" : `is refused: ${refused}`}`, () => {
          const outcome = run(vector, new Set(off));
          if (refused === undefined) {
            assert.ok(outcome.ok, outcome.ok ? "" : `refused: ${JSON.stringify(outcome.refusal)}`);
            expectReading(vector.case, outcome);
          } else {
            assert.equal(outcome.ok ? "passes" : outcome.refusal.check, refused);
            const { in_query: inQuery } = vector.case;
            if (inQuery !== undefined && !outcome.ok) assert.equal(outcome.refusal.in === "query", inQuery);
          }
        });
      }
    });
  }
});

describe("request: what holds of every vector", () => {
  it("every check refuses something, and something passes with it switched off", () => {
    const refusing = new Set(allVectors.map((vector) => vector.case.refused));
    const accepted = new Set(allVectors.flatMap((vector) => vector.case.accepted ?? []));
    assert.deepEqual(
      REFUSAL_CHECKS.filter((check) => !refusing.has(check) || !accepted.has(check)),
      [],
    );
  });

  it("every vector has only keys and check names that exist", () => {
    const known = new Set(
      "name note method target scheme host protocol headers body body_complete switched_off under in_query stated max_depth reads refused segments path query query_json canonical_method canonical_host canonical_scheme canonical_headers canonical_headers_json others variants accepted json".split(
        " ",
      ),
    );
    for (const vector of allVectors) {
      assert.deepEqual(
        Object.keys(vector.case).filter((key) => !known.has(key)),
        [],
        vector.title,
      );
      const names = [...(vector.case.accepted ?? []), ...(vector.case.switched_off ?? [])];
      const { refused } = vector.case;
      for (const name of refused === undefined ? names : [...names, refused]) {
        assert.ok(name === "format_suffix" || REFUSAL_CHECKS.includes(name), name);
      }
    }
  });

  it("a check that is switched off is reported, and never again refuses, unless the target names no path", () => {
    for (const vector of allVectors) {
      const { refused, under } = vector.case;
      if (refused === undefined || under !== undefined) continue;
      const outcome = run(vector, new Set([...(vector.case.switched_off ?? []), refused]));
      if (outcome.ok) assert.ok(outcome.accepted.includes(refused), vector.title);
      else if (refused !== "malformed_target" && outcome.refusal.detail !== TOO_MANY_READINGS) {
        const [before, after] = [refused, outcome.refusal.check].map((check) =>
          REFUSAL_CHECKS.indexOf(check),
        );
        assert.ok(after! > before!, `${vector.title}: ${outcome.refusal.check} after ${refused}`);
      }
    }
  });

  it("with everything switched off, only what names no path is refused", () => {
    const everything = new Set(REFUSAL_CHECKS);
    for (const vector of allVectors) {
      const outcome = run(vector, everything);
      if (outcome.ok) {
        const order = outcome.accepted.map((check) => REFUSAL_CHECKS.indexOf(check));
        assert.deepEqual(
          order,
          order.toSorted((one, other) => one - other),
          vector.title,
        );
      } else if (outcome.refusal.detail !== TOO_MANY_READINGS) {
        assert.equal(outcome.refusal.check, "malformed_target", vector.title);
        assert.ok(!vector.raw.target.startsWith("/"), vector.title);
      }
    }
  });

  it("details are short printable ASCII without values of the query, of headers or of the body", () => {
    for (const vector of allVectors) {
      const outcome = run(vector, new Set(vector.case.switched_off ?? []));
      if (outcome.ok) continue;
      assert.match(outcome.refusal.detail, /^[\x20-\x7e]{1,200}$/, vector.title);
      assert.doesNotMatch(outcome.refusal.detail, /secret|DELETE|Bearer/, vector.title);
    }
  });
});
