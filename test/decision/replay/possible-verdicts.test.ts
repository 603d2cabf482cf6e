import { strict as assert } from "node:assert";
import fc from "fast-check";
import { only } from "../../../src/policy/analyze/verdicts.ts";
import {
  possibleVerdicts,
  type HashedValue,
  type KnownItem,
  type RecordedValue,
} from "../../../src/decision/replay/possible-verdicts.ts";
import {
  evaluate,
  readAttribute,
  UNAVAILABLE,
  type Attributes,
  type Value,
} from "../../../src/policy/index.ts";
import { livelyAttributes, livelyExpression } from "../../policy/condition/lively.ts";

const KINDS = ["known", "hash", "present", "unrecorded"] as const;
type Kind = (typeof KINDS)[number];

const hash = (value: unknown) => `h${typeof value}${String(value)}`;

/** What a record that keeps so much of an attribute holds of it. */
function recordedAs(kind: Kind, value: Value | typeof UNAVAILABLE | undefined): RecordedValue {
  if (kind === "unrecorded") return { kind };
  // a record always says what was missing or unavailable
  if (kind === "known" || value === undefined || value === UNAVAILABLE) return { kind: "known", value };
  const items: readonly unknown[] = Array.isArray(value) ? value : [value];
  const inexact = items.some((item) => typeof item === "number" && !Number.isFinite(item));
  const broken = items.some((item) => typeof item === "string" && !item.isWellFormed());
  // neither has a hash
  if (kind === "present" || inexact || broken || items.some((item) => typeof item === "symbol"))
    return { kind: "present" };
  if (Array.isArray(value)) return { kind, hash: (value as readonly Value[]).map(itemOf) };
  const item = itemOf(value);
  return "item" in item ? { kind: "known", value: item.item } : { kind, hash: item };
}

function itemOf(value: Value): HashedValue | KnownItem {
  const type = typeof value;
  const hashed = type === "string" || type === "number" || type === "boolean";
  return hashed ? { type, digest: hash(value) } : { item: value };
}

describe("the possible verdicts of a condition over recorded attributes", () => {
  const kept = fc.array(fc.constantFrom(...KINDS), { minLength: 1, maxLength: 20 });

  const valuesOf = (attributes: Attributes, kinds: readonly Kind[], withKey: boolean) => ({
    read: (path: readonly string[]) => {
      const sum = Array.from(path.join(".")).reduce((total, letter) => total + letter.charCodeAt(0), 0);
      return recordedAs(kinds[sum % kinds.length] ?? "known", readAttribute(path, attributes));
    },
    hash: (value: string | number | boolean) => (withKey ? hash(value) : undefined),
  });

  it("contain the verdict, whatever is not recorded", () => {
    fc.assert(
      fc.property(
        livelyExpression,
        livelyAttributes,
        kept,
        fc.boolean(),
        (expression, attributes, kinds, withKey) => {
          const possible = possibleVerdicts(expression, valuesOf(attributes, kinds, withKey));
          assert.notEqual(possible & only(evaluate(expression, attributes)), 0);
        },
      ),
      { numRuns: 5_000 },
    );
  });

  it("are the verdict alone if everything is recorded", () => {
    fc.assert(
      fc.property(livelyExpression, livelyAttributes, (expression, attributes) => {
        const possible = possibleVerdicts(expression, valuesOf(attributes, ["known"], false));
        assert.equal(possible, only(evaluate(expression, attributes)));
      }),
      { numRuns: 2_000 },
    );
  });
});
