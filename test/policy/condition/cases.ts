import { readdirSync, readFileSync } from "node:fs";
import { load } from "js-yaml";
import { z } from "zod";
import type { ConditionContext } from "../../../src/policy/condition/index.ts";
import { UNAVAILABLE, type Attributes } from "../../../src/policy/value.ts";

const FOLDER = new URL("../../cases/condition/", import.meta.url);

const Text = z.union([
  z.string(),
  z.array(z.union([z.string(), z.strictObject({ repeat: z.string(), times: z.int() })])),
]);
const Context = z.strictObject({
  roots: z.array(z.string()),
  parameters: z.array(z.string()).optional(),
  types: z
    .record(z.string(), z.record(z.string(), z.enum(["string", "number", "boolean", "list", "object"])))
    .optional(),
  fieldArguments: z.array(z.string()).optional(),
  open: z.array(z.string()).optional(),
  opensWhen: z.boolean().optional(),
});
const Defaults = {
  attributes: z.record(z.string(), z.unknown()).optional(),
  unavailable: z.array(z.string()).optional(),
  context: Context.optional(),
};
const Case = z.strictObject({
  condition: Text,
  ...Defaults,
  verdict: z.union([z.boolean(), z.literal("unknown")]).optional(),
  findings: z.array(z.string()).optional(),
  format: z.string().optional(),
  errors: z.array(z.string()).default([]),
  warnings: z.array(z.string()).default([]),
  marks: z.array(z.string()).optional(),
  hint: z.string().optional(),
});
const CaseFile = z.strictObject({ about: z.string(), ...Defaults, cases: z.array(Case).min(1) });

/** One published case, its generators run. */
export interface ConditionCase extends Omit<z.infer<typeof Case>, "condition" | "attributes" | "context"> {
  /** The beginning of the condition. */
  readonly title: string;
  readonly condition: string;
  readonly attributes: Attributes;
  readonly context: ConditionContext;
}

/** @returns the cases of every file in the folder, by file name. */
export function allCases(): Map<string, ConditionCase[]> {
  const names = readdirSync(FOLDER).filter((name) => name.endsWith(".yaml"));
  return new Map(names.map((name) => [name, casesOf(name)]));
}

/** @returns the cases of one file. */
export function casesOf(name: string): ConditionCase[] {
  const { cases, ...defaults } = CaseFile.parse(load(readFileSync(new URL(name, FOLDER), "utf8")));
  return cases.map((one) => {
    const condition = textOf(one.condition);
    const attributes = withUnavailable(
      one.attributes ?? defaults.attributes ?? {},
      one.unavailable ?? defaults.unavailable ?? [],
    );
    const context = (one.context ?? defaults.context ?? { roots: [] }) as ConditionContext;
    return { ...one, title: condition.slice(0, 80), condition, attributes, context };
  });
}

function textOf(text: z.infer<typeof Text>): string {
  if (typeof text === "string") return text;
  return text.map((part) => (typeof part === "string" ? part : part.repeat.repeat(part.times))).join("");
}

function withUnavailable(attributes: Record<string, unknown>, paths: readonly string[]): Attributes {
  const all = Object.fromEntries(Object.entries(attributes).map(([root, value]) => [root, generated(value)]));
  for (const path of paths) {
    const keys = path.split(".");
    const last = keys.pop()!;
    let at: Record<string, unknown> = all;
    for (const key of keys) at = (at[key] ??= {}) as Record<string, unknown>;
    at[last] = UNAVAILABLE;
  }
  return all as Attributes;
}

function generated(value: unknown): unknown {
  if (typeof value !== "object" || value === null || !("$list" in value) || !("times" in value)) return value;
  return Array.from({ length: Number(value.times) }, () => value.$list);
}
