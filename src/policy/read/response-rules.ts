import { quoted } from "../../text/index.ts";
import { reportWithin } from "../syntax/report-within.ts";
import { type Reporter } from "../diagnostics/reporter.ts";
import { MASK_TYPES, type FieldPathIR, type MaskAction } from "../ir.ts";
import type { ScalarNode, YamlNode } from "../syntax/tree.ts";
import { readCondition } from "./condition.ts";
import { CHOICES, ENTRY_KEYS, FIELD_KEYS } from "./keys.ts";
import { readPattern } from "./pattern.ts";
import type { ResponseFieldSource, ResponseRuleSource } from "./policy-source.ts";
import { readChoice, readFields, readItems, readString, wrongType, type Fields } from "./reader.ts";
import { readRule } from "./rule.ts";
import { placeOf } from "../syntax/place-of.ts";

type Section = ResponseRuleSource["section"];

/** The keys of the two sections, which differ only in spelling. */
interface Spelling {
  readonly what: string;
  readonly pattern: string;
  readonly list: string;
  readonly field: string;
  readonly keys: readonly string[];
  readonly readAction: (report: Reporter, fields: Fields) => MaskAction | undefined;
}

const SPELLINGS: Readonly<Record<Section, Spelling>> = {
  response_filters: {
    what: "a response filter",
    pattern: "endpoint",
    list: "filter_rules",
    field: "field",
    keys: FIELD_KEYS.filter_rules,
    readAction: readFilterAction,
  },
  response_masks: {
    what: "a response mask",
    pattern: "api_pattern",
    list: "fields",
    field: "name",
    keys: FIELD_KEYS.fields,
    readAction: readMaskType,
  },
};

const DEFAULT_REPLACEMENT = "***";

/** Reads an entry of `response_filters` or `response_masks`. */
export function readResponseRule(
  report: Reporter,
  node: YamlNode,
  section: Section,
  id: string,
): ResponseRuleSource | undefined {
  const spelling = SPELLINGS[section];
  const rule = readRule(report, node, spelling.what, ENTRY_KEYS[section]);
  if (rule === undefined) return undefined;
  const path = rule.fields.require(spelling.pattern);
  const pattern =
    path && readPattern(report, path, `\`${spelling.pattern}\``, { method: "optional", wildcards: "web" });
  const other = rule.fields.get("other_types");
  const otherTypes = (other && readChoice(report, other, "`other_types`", CHOICES.other_types)) ?? "refuse";
  const list = rule.fields.require(spelling.list);
  if (list === undefined) return undefined;
  const fields = readFieldList(report, list, spelling);
  return pattern && { section, id, ...rule.head, pattern, otherTypes, fields };
}

/** Reads a list of fields to mask, as used in `response_masks` and message types. */
export function readMaskedFields(report: Reporter, list: YamlNode): readonly ResponseFieldSource[] {
  return readFieldList(report, list, SPELLINGS.response_masks);
}

function readFieldList(report: Reporter, list: YamlNode, spelling: Spelling): readonly ResponseFieldSource[] {
  const items = readItems(report, list, `\`${spelling.list}\``);
  if (list.kind === "sequence" && items.length === 0) {
    report.error(placeOf(list), "empty-value", `\`${spelling.list}\` must not be empty`);
  }
  return items.flatMap((item) => readField(report, item, spelling) ?? []);
}

function readField(report: Reporter, node: YamlNode, spelling: Spelling): ResponseFieldSource | undefined {
  const fields = readFields(report, node, `an entry of \`${spelling.list}\``, spelling.keys);
  if (fields === undefined) return undefined;
  const name = fields.require(spelling.field);
  const scalar = name && readString(report, name, `\`${spelling.field}\``);
  const field = scalar && readFieldPath(report, scalar);
  const condition = readCondition(report, fields);
  const action = spelling.readAction(report, fields);
  return field && condition && action && { node: scalar, field, condition, action };
}

/** Reads `a.b` (at any depth) or `$.a.b` (from the root). */
function readFieldPath(report: Reporter, scalar: ScalarNode): FieldPathIR | undefined {
  const anchored = scalar.text.startsWith("$.");
  const keys = scalar.text.slice(anchored ? 2 : 0).split(".");
  let start = anchored ? 2 : 0;
  for (const key of keys) {
    const problem = fieldKeyProblem(key);
    if (problem !== undefined) {
      const end = start + Math.max(1, key.length);
      reportWithin(report, scalar, { severity: "error", code: "invalid-field", ...problem, start, end });
      return undefined;
    }
    start += key.length + 1;
  }
  return { anchored, keys };
}

function fieldKeyProblem(key: string): { message: string; hint?: string } | undefined {
  if (key.trim() === "" || key === "$") {
    return {
      message: "a field name is missing here",
      hint: "write fields like `ssn`, `customer.ssn` or `$.customer.ssn`",
    };
  }
  if (!/[[\]*]/.test(key)) return undefined;
  const hint = "leave out indexes and wildcards: a field is found in every entry of a list";
  return { message: `${quoted(key)} is not a valid field name`, hint };
}

function readFilterAction(report: Reporter, fields: Fields): MaskAction | undefined {
  const node = fields.require("action");
  const action = node && readChoice(report, node, "`action`", CHOICES.action);
  const replacement = fields.get("replacement");
  if (action === "mask") {
    if (replacement === undefined) return { kind: "replace", replacement: DEFAULT_REPLACEMENT };
    // unlike other strings, this one may be empty
    if (replacement.kind === "scalar" && typeof replacement.value === "string") {
      return { kind: "replace", replacement: replacement.value };
    }
    wrongType(report, replacement, "`replacement`", "a string");
    return undefined;
  }
  if (action === "remove" && replacement !== undefined) {
    report.error(
      placeOf(replacement),
      "unexpected-key",
      "`replacement` is not allowed with `action: remove`",
      "did you mean `action: mask`?",
    );
  }
  return action && { kind: action };
}

function readMaskType(report: Reporter, fields: Fields): MaskAction | undefined {
  const node = fields.require("mask_type");
  const type = node && readChoice(report, node, "`mask_type`", MASK_TYPES);
  return type && { kind: type };
}
