import assert from "node:assert/strict";
import fc from "fast-check";
import type { JsonNode } from "../../src/json/index.ts";
import { maskDocument, parseDocument, type MaskedResponse } from "../../src/policy/mask/index.ts";
import { MASK_TYPES, type Expression } from "../../src/policy/ir.ts";
import type { FieldAction, PlannedField } from "../../src/policy/plan.ts";
import { runs } from "../support/runs.ts";
import type { LuaRunner } from "../support/lua.ts";
import { jsonDocument, jsonName } from "./json-arbitraries.ts";
import { startMasking, type LuaMasked, type MaskPlan, type MaskRequest } from "./mask-support.ts";

/** Names as documents have them, so that they meet. */
const key = jsonName.map((text) => JSON.parse(text) as string);
const value = fc.constantFrom<string | number | boolean | null>(
  "a",
  "word",
  "",
  0,
  1,
  42,
  true,
  false,
  null,
  "***",
);
/** As conditions can write them: half a surrogate pair is refused there. */
const name = key.filter((one) => one.isWellFormed());
const place = fc.oneof(
  fc.tuple(fc.constant("item"), name),
  fc.tuple(fc.constant("item"), name, name),
  fc.tuple(fc.constant("response"), fc.constant("body"), name),
  fc.constantFrom(["item"], ["response", "status"], ["response", "headers", "x-a"], ["nothing", "a"]),
);
const when: fc.Arbitrary<Expression> = fc.letrec<{ any: Expression }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    place.map((path): Expression => ({ op: "exists", path })),
    fc.tuple(fc.constantFrom("==", "!=", "<", ">="), place, value).map(([op, path, literal]): Expression => ({
      op,
      left: { op: "attribute", path },
      right: { op: "literal", value: literal },
    })),
    fc.tuple(value, place).map(([literal, path]): Expression => ({
      op: "in",
      value: { op: "literal", value: literal },
      list: { op: "attribute", path },
    })),
    fc.tuple(place, value).map(([path, literal]): Expression => ({
      op: "startsWith",
      target: { op: "attribute", path },
      arg: { op: "literal", value: literal },
    })),
    tie("any").map((arg): Expression => ({ op: "not", arg })),
    fc
      .tuple(
        fc.constantFrom("and" as const, "or" as const),
        fc.array(tie("any"), { minLength: 2, maxLength: 3 }),
      )
      .map(([op, args]): Expression => ({ op, args })),
  ),
})).any;

const action = fc.oneof(
  fc.constantFrom<FieldAction>(
    { kind: "remove" },
    { kind: "partial" },
    ...MASK_TYPES.map((kind) => ({ kind })),
    { kind: "null" },
  ),
  fc
    .constantFrom("", "hidden", '"\\\n\u0000', "é\u{1F600}\u2028", "\ud83d")
    .map((replacement): FieldAction => ({ kind: "replace", replacement })),
);
const field = (condition: fc.Arbitrary<Expression | undefined>): fc.Arbitrary<PlannedField> =>
  fc
    .record({
      anchored: fc.boolean(),
      keys: fc.oneof({ weight: 3, arbitrary: fc.tuple(key) }, fc.array(key, { minLength: 2, maxLength: 3 })),
      action,
      when: condition,
    })
    .map(({ when: one, ...rest }) => ({ rule: "r", ...rest, ...(one !== undefined && { when: one }) }));

const errors = fc.array(
  fc
    .record({
      message: fc.string({ unit: "grapheme" }),
      path: fc.option(fc.array(fc.string(), { maxLength: 3 })),
    })
    .map(({ message, path }) => ({ message, ...(path && { path }), extensions: { code: "ACCESS_DENIED" } })),
  { maxLength: 2 },
);
const plan: fc.Arbitrary<MaskPlan> = fc
  .record({
    fields: fc.array(field(fc.option(when, { nil: undefined })), { maxLength: 6 }),
    errors: fc.option(errors, { nil: undefined, freq: 3 }),
  })
  .map(({ fields, errors: added }) => ({ fields, ...(added && { errors: added }) }));

const response: fc.Arbitrary<MaskedResponse> = fc.constantFrom(
  {},
  { status: 200, headers: {} },
  { status: 42, headers: { "x-a": ["a", "word"], "x-b": [] } },
);

/** The actions that it has, strictest first. */
const BY_STRICTNESS: readonly FieldAction["kind"][] = ["remove", "null", "full", "replace"];

/** The same by other means, where no name stands twice: what `JSON.parse` gives, changed. */
function masked(value: unknown, fields: readonly PlannedField[], keys: readonly string[] = []): unknown {
  if (Array.isArray(value)) return value.map((item) => masked(item, fields, keys));
  if (typeof value !== "object" || value === null) return value;
  const members: [string, unknown][] = [];
  for (const [name, member] of Object.entries(value)) {
    const path = [...keys, name];
    const ends = (one: PlannedField) =>
      one.keys.length <= path.length &&
      (!one.anchored || one.keys.length === path.length) &&
      one.keys.every((part, index) => part.isWellFormed() && part === path.at(index - one.keys.length));
    const kinds = fields.filter(ends).map((one) => one.action);
    const strictest = BY_STRICTNESS.flatMap((kind) => kinds.filter((one) => one.kind === kind)).at(0);
    if (strictest === undefined) members.push([name, masked(member, fields, path)]);
    else if (strictest.kind !== "remove") members.push([name, changed(strictest)]);
  }
  return Object.fromEntries(members);
}

function changed(by: FieldAction): unknown {
  if (by.kind === "null") return null;
  if (by.kind === "replace") return by.replacement.isWellFormed() ? by.replacement : "***";
  return "***";
}

/** Whether a name stands twice in an object: then `JSON.parse` does not say all that the document says. */
function hasDuplicates(document: string): boolean {
  const parsed = parseDocument(document);
  assert.ok(parsed.ok);
  const below = (node: JsonNode): boolean => {
    if (node.kind === "array") return node.items.some(below);
    if (node.kind !== "object") return false;
    const names = node.members.map((member) => member.name);
    return new Set(names).size < names.length || node.members.some((member) => below(member.value));
  };
  return below(parsed.root);
}

describe("masking of generated documents", () => {
  let runner: LuaRunner;
  let mask: (requests: readonly MaskRequest[]) => Promise<LuaMasked[]>;
  before(async () => {
    ({ runner, mask } = await startMasking());
  });
  after(() => runner.close());

  it("gives the same bytes and paths in Lua and in TypeScript", async () => {
    let touched = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ document: jsonDocument, plan, response }), { minLength: 30, maxLength: 60 }),
        async (requests) => {
          for (const [index, inLua] of (await mask(requests)).entries()) {
            const one = requests[index]!;
            const inTypeScript = maskDocument(one.document, one.plan, one.response);
            assert.deepEqual({ ok: "text" in inLua, ...inLua }, inTypeScript, JSON.stringify(one));
            if ("count" in inLua && inLua.count > 0) touched += 1;
          }
        },
      ),
      { numRuns: runs(40) },
    );
    assert.ok(touched > 200, `${touched} documents were changed`);
  });

  it("changes what a plan names, and nothing else", async () => {
    let compared = 0;
    const fields = fc.array(field(fc.constant(undefined)), { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ document: jsonDocument, fields }), { minLength: 30, maxLength: 60 }),
        async (requests) => {
          // a number, of which `partial` shows a part, has no text after JSON.parse
          const usable = requests
            .filter(({ document }) => !hasDuplicates(document))
            .map((one) => ({
              ...one,
              plan: { fields: one.fields.filter(({ action: { kind } }) => BY_STRICTNESS.includes(kind)) },
            }));
          for (const [index, result] of (await mask(usable)).entries()) {
            const { document, plan: used } = usable[index]!;
            assert.ok("text" in result);
            assert.deepEqual(JSON.parse(result.text), masked(JSON.parse(document), used.fields), document);
            if (result.count > 0) compared += 1;
          }
        },
      ),
      { numRuns: runs(40) },
    );
    assert.ok(compared > 100, `${compared} documents were changed`);
  });

  it("never raises: documents that were cut or hit, random bytes", async () => {
    const broken = fc
      .tuple(jsonDocument, fc.nat(), fc.nat(255), fc.boolean())
      .map(([text, at, byte, cut]) => {
        const bytes = Buffer.from(text);
        const where = at % (bytes.length + 1);
        if (cut) return bytes.subarray(0, where);
        if (where < bytes.length) bytes[where] = byte;
        return bytes;
      });
    const noise = fc.uint8Array().map((bytes) => Buffer.from(bytes));
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ document: fc.oneof(broken, noise), plan }), { minLength: 50, maxLength: 100 }),
        async (requests) => {
          for (const [index, result] of (await mask(requests)).entries()) {
            const { document, plan: used } = requests[index]!;
            const text = document.toString();
            if (Buffer.from(text).equals(document)) {
              assert.deepEqual({ ok: "text" in result, ...result }, maskDocument(text, used, {}));
            } else {
              assert.ok("reason" in result);
            }
            if ("reason" in result) refused += 1;
          }
        },
      ),
      { numRuns: runs(25) },
    );
    assert.ok(refused > 500, `${refused} documents were refused`);
  });
});
