import assert from "node:assert/strict";
import { createRouteFinder } from "../../../src/decision/decide/route-limits.ts";
import { parsePattern } from "../../../src/policy/index.ts";
import { ACCEPTABLE_CHECKS, canonicalize } from "../../../src/request/index.ts";
import { accessOf } from "../support.ts";

const USUAL = [30, 10];
const ROUTES: readonly (readonly [path: string, limits: readonly number[]])[] = [
  ["/exports/**", [600, 10]],
  ["/exports/{id}", [300, 10]],
  ["/exports/small", [30, 1]],
  ["/uploads/{id}", [30, 1000]],
];

describe("limits of routes", () => {
  const find = createRouteFinder({
    usual: USUAL,
    routes: ROUTES.map(([path, limits]) => ({
      segments: parsePattern(path, "rest").segments,
      limits,
      responseSize: 10,
    })),
  });
  const routeOf = (path: string) => {
    const canonical = canonicalize(accessOf({ path }).raw, { switchedOff: new Set(ACCEPTABLE_CHECKS) });
    assert.ok(canonical.ok, path);
    const { request, others, variants } = canonical;
    return find([request, ...others, ...variants.map((variant) => variant.request)]);
  };

  for (const [what, path, expected] of [
    ["a path without a route", "/other", undefined],
    ["the most specific route", "/exports/a", 1],
    ["a literal", "/exports/small", 2],
    ["everything below", "/exports/a/b", 0],
    ["a trailing slash", "/uploads/a/", 3],
    ["letter case", "/EXPORTS/Small", 2],
    ["characters in percent-encoding", "/exports/sm%61ll", 2],
    ["a suffix that some servers drop: the stricter", "/exports/small.json", 2],
    ["a suffix of a larger limit: the usual one is not exceeded", "/uploads.json", undefined],
    ["an empty segment: the stricter", "/exports//small", 2],
    ["a dot segment: the stricter", "/uploads/../other", undefined],
  ] as const) {
    it(`are found by ${what}`, () => {
      assert.equal(routeOf(path), expected, path);
    });
  }

  it("conflict if no reading is the strictest in everything", () => {
    const read = (path: string) => {
      const canonical = canonicalize(accessOf({ path }).raw, { switchedOff: new Set() });
      assert.ok(canonical.ok);
      return canonical.request;
    };
    const [exports, uploads, other] = [read("/exports/a"), read("/uploads/a"), read("/other")];
    assert.equal(find([exports, uploads]), "conflict");
    assert.equal(find([exports, uploads, other]), undefined);
  });

  it("cost nothing without routes", () => {
    assert.equal(createRouteFinder({ usual: USUAL, routes: [] })([]), undefined);
  });
});
