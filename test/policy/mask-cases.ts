import { readdirSync, readFileSync } from "node:fs";
import { load } from "js-yaml";
import { z } from "zod";
import { compileCondition, parseCondition } from "../../src/policy/condition/index.ts";
import { MASK_TYPES } from "../../src/policy/ir.ts";
import type { FieldAction, PlannedField, ResponsePlanIR } from "../../src/policy/plan.ts";
import type { MaskedResponse } from "../../src/policy/mask/index.ts";

const FOLDER = new URL("../cases/mask/", import.meta.url);

const Text = z.union([
  z.string(),
  z.array(z.union([z.string(), z.strictObject({ repeat: z.string(), times: z.int() })])),
]);
const Field = z.strictObject({
  field: z.string().optional(),
  keys: z.array(Text).optional(),
  action: z.union([z.enum([...MASK_TYPES, "null"]), z.strictObject({ replace: z.string() })]),
  when: z.string().optional(),
});
const Errors = z.array(
  z.strictObject({
    message: z.string(),
    path: z.array(z.string()).optional(),
    extensions: z.strictObject({ code: z.string() }),
  }),
);
const Shared = {
  document: Text.optional(),
  fields: z.array(Field).optional(),
  errors: Errors.optional(),
  graphql: z.literal(true).optional(),
  response: z
    .strictObject({
      status: z.int().optional(),
      headers: z.record(z.string(), z.array(z.string())).optional(),
    })
    .optional(),
  paths: z.array(Text).optional(),
};
const Case = z.strictObject({
  ...Shared,
  name: z.string().optional(),
  expect: Text.optional(),
  refused: z.string().optional(),
});
const CaseFile = z.strictObject({ ...Shared, about: z.string(), cases: z.array(Case).min(1) });

/** One published case, its generators run. */
export interface MaskCase {
  readonly name: string;
  readonly document: string;
  readonly plan: Pick<ResponsePlanIR, "fields" | "errors" | "graphql">;
  readonly response: MaskedResponse;
  /** What both maskers must come to. */
  readonly expected:
    { readonly text: string; readonly paths: readonly string[] } | { readonly reason: string };
}

/** @returns the cases of every file in the folder, by file name. */
export function allMaskCases(): Map<string, MaskCase[]> {
  const names = readdirSync(FOLDER).filter((name) => name.endsWith(".yaml"));
  return new Map(names.map((name) => [name, casesOf(name)]));
}

function casesOf(file: string): MaskCase[] {
  const { cases, ...shared } = CaseFile.parse(load(readFileSync(new URL(file, FOLDER), "utf8")));
  return cases.map((one) => {
    const {
      document,
      fields = [],
      errors,
      graphql,
      response,
      paths,
      name,
      expect,
      refused,
    } = {
      ...shared,
      ...one,
    };
    if (document === undefined || (expect === undefined) === (refused === undefined)) {
      throw new Error(`${file}: ${name ?? ""} needs a document, and either \`expect\` or \`refused\``);
    }
    const text = textOf(document);
    return {
      name: name ?? JSON.stringify(text.slice(0, 80)),
      document: text,
      plan: {
        fields: fields.map(plannedField),
        ...(graphql && { graphql }),
        ...(errors && { errors: errors as Required<ResponsePlanIR>["errors"] }),
      },
      response: (response ?? { status: 200, headers: {} }) as MaskedResponse,
      expected:
        expect === undefined
          ? { reason: refused ?? "" }
          : { text: textOf(expect), paths: (paths ?? []).map(textOf) },
    };
  });
}

function textOf(pieces: z.infer<typeof Text>): string {
  if (typeof pieces === "string") return pieces;
  return pieces
    .map((piece) => (typeof piece === "string" ? piece : piece.repeat.repeat(piece.times)))
    .join("");
}

function plannedField(
  { field = "", keys, action, when }: z.infer<typeof Field>,
  index: number,
): PlannedField {
  return {
    rule: `rules[${index}]`,
    anchored: field.startsWith("$."),
    keys: keys?.map(textOf) ?? field.replace(/^\$\./, "").split("."),
    action: actionOf(action),
    ...(when !== undefined && { when: expressionOf(when) }),
  };
}

function actionOf(action: z.infer<typeof Field>["action"]): FieldAction {
  return typeof action === "string" ? { kind: action } : { kind: "replace", replacement: action.replace };
}

function expressionOf(text: string) {
  const { ast, findings } = parseCondition(text);
  if (ast === undefined) throw new Error(`${text}: ${JSON.stringify(findings)}`);
  return compileCondition(ast, text).expression;
}
