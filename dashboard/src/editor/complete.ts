import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import {
  ATTRIBUTE_KEYS,
  CHOICES,
  CONNECTION_KEYS,
  CORS_KEYS,
  ENTRY_KEYS,
  FIELD_KEYS,
  GRAPHQL_KEYS,
  GRAPHQL_LIMIT_KEYS,
  HEAD_KEYS,
  MESSAGE_KEYS,
  RULE_KEYS,
  SECTIONS,
} from "../../../src/policy/read/keys.ts";
import { STRING_METHODS } from "../../../src/policy/ir.ts";
import { CLAIM_MEMBERS, KEYWORDS, rootsOf, type ConditionUse } from "../../../src/policy/roots.ts";
import { isInCondition, placeIn } from "./place.ts";

/** Members that requests and the time always have. */
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  ...CLAIM_MEMBERS,
  request: ["method", "path", "host", "scheme", "protocol", "client_ip", "headers", "query", "body"],
  env: ["time", "date", "hour", "weekday", "environment"],
  response: ["status", "headers", "body"],
  message: ["type"],
};
const METHODS = ["includes", ...STRING_METHODS];

/** What the compiler last said of the set: attributes that its conditions read, such as `user.role`. */
export interface KnownNames {
  readonly reads: readonly string[];
}

/**
 * Offers sections, keys, words and attributes.
 *
 * @param known - asked at each completion
 */
export function completePolicies(known: () => KnownNames) {
  return (context: CompletionContext): CompletionResult | null => {
    const { state, pos } = context;
    const at = state.doc.lineAt(pos);
    const lines = [...linesUntil(state.doc.iterLines(1, at.number)), at.text.slice(0, pos - at.from)];
    const text = lines.at(-1) ?? "";
    if (/^\s*#/.test(text)) return null;
    return isInCondition(lines)
      ? completeCondition(context, lines, known())
      : completeKeyOrWord(context, lines, text);
  };
}

function* linesUntil(lines: Iterable<string>): Iterable<string> {
  yield* lines;
}

function completeKeyOrWord(
  { pos, explicit }: CompletionContext,
  lines: readonly string[],
  text: string,
): CompletionResult | null {
  const { path, key } = placeIn(lines);
  const word = /[\w-]*$/.exec(text)?.[0] ?? "";
  if (word === "" && !explicit) return null;
  if (key !== undefined) {
    const words = wordsOf(path, key);
    if (words === undefined) return null;
    return { from: pos - word.length, options: words.map((label) => ({ label, type: "enum" })) };
  }
  if (!/^\s*(?:- +)*[\w-]*$/.test(text)) return null;
  const keys = keysOf(path);
  if (keys === undefined) return null;
  const options = keys.map((label): Completion => ({ label, apply: `${label}: `, type: "property" }));
  return { from: pos - word.length, options };
}

/** The keys of the mapping below a path; `undefined` if it has no fixed ones. */
export function keysOf(path: readonly string[]): readonly string[] | undefined {
  const [section, list, ...rest] = path;
  if (section === undefined) return [...HEAD_KEYS, ...SECTIONS];
  const whole = path.join(" ");
  if (whole === "cors") return CORS_KEYS;
  if (whole === "graphql") return GRAPHQL_KEYS;
  if (whole === "graphql limits") return GRAPHQL_LIMIT_KEYS;
  if (section === "attributes") return list !== undefined && rest.length === 0 ? ATTRIBUTE_KEYS : undefined;
  if (section === "websocket_policies") {
    if (list === undefined) return ENTRY_KEYS.websocket_policies;
    if (list === "connection") return [...CONNECTION_KEYS, ...RULE_KEYS];
    if (list !== "message_types") return undefined;
    return rest.length === 0
      ? [...MESSAGE_KEYS, ...RULE_KEYS]
      : rest[0] === "fields"
        ? FIELD_KEYS.fields
        : undefined;
  }
  const entry = SECTIONS.find((name) => name === section);
  if (entry === undefined) return undefined;
  if (list === undefined) return [...ENTRY_KEYS[entry], ...RULE_KEYS];
  if (rest.length > 0) return undefined;
  return list === "fields" || list === "filter_rules" ? FIELD_KEYS[list] : undefined;
}

/** The words that a key can have; `undefined` if any. */
function wordsOf([section]: readonly string[], key: string): readonly string[] | undefined {
  if (key === "on_deny") return section === "graphql_policies" ? ["reject", "null"] : ["drop", "close"];
  const choices: Readonly<Record<string, readonly string[]>> = CHOICES;
  return Object.hasOwn(choices, key) ? choices[key] : undefined;
}

function completeCondition(
  { pos, explicit }: CompletionContext,
  lines: readonly string[],
  { reads }: KnownNames,
): CompletionResult | null {
  const text = lines.at(-1) ?? "";
  const value = text.replace(/^\s*(?:- +)*condition\s*:/, "");
  // an even number of quotes: not in a string
  if (isInString(value)) return null;
  const path = /[A-Za-z_][\w.]*$/.exec(value)?.[0] ?? "";
  if (path === "" && !explicit) return null;
  const dot = path.lastIndexOf(".");
  const from = pos - (path.length - dot - 1);
  if (dot >= 0) return { from, options: membersOf(path.slice(0, dot), lines, reads) };
  const roots = rootsOf(useOf(placeIn(lines).path), declaredIn(lines));
  return {
    from,
    options: [
      ...roots.map((label): Completion => ({ label, type: "variable" })),
      ...[...KEYWORDS].map((label): Completion => ({ label, type: "keyword" })),
    ],
  };
}

function isInString(value: string): boolean {
  const inner = value.replace(/^\s*["']/, "");
  return ((inner.match(/(?<!\\)"/g)?.length ?? 0) | (inner.match(/'/g)?.length ?? 0)) % 2 === 1;
}

function membersOf(above: string, lines: readonly string[], reads: readonly string[]): Completion[] {
  const used = reads.flatMap((path) => {
    if (!path.startsWith(`${above}.`)) return [];
    return /^\w+/.exec(path.slice(above.length + 1))?.[0] ?? [];
  });
  const known = above === "path" ? parametersAbove(lines) : (MEMBERS[above] ?? []);
  const members = [...new Set([...known, ...used])];
  return [
    ...members.map((label): Completion => ({ label, type: "property" })),
    ...(above.includes(".")
      ? METHODS.map((label): Completion => ({ label, apply: `${label}(`, type: "method" }))
      : []),
  ];
}

/** `{customer_id}` of the rule that the condition belongs to: the nearest pattern above it. */
function parametersAbove(lines: readonly string[]): string[] {
  for (const line of lines.toReversed()) {
    if (!/^\s*(?:- +)?(?:resource|path|endpoint|api_pattern)\s*:/.test(line)) continue;
    return [...line.matchAll(/\{(\w+)\}/g)].flatMap(([, name]) => name ?? []);
  }
  return [];
}

function useOf([section, list]: readonly string[]): ConditionUse {
  if (section === "response_filters" || section === "response_masks") return "response";
  if (section === "graphql_policies") return "graphql";
  return section === "websocket_policies" && list === "message_types" ? "message" : "request";
}

/** Roots that the file declares above. */
function declaredIn(lines: readonly string[]): string[] {
  const start = lines.findIndex((line) => /^attributes\s*:/.test(line));
  if (start < 0) return [];
  const names: string[] = [];
  for (const line of lines.slice(start + 1)) {
    if (/^\S/.test(line)) break;
    const name = /^ {1,4}([A-Za-z_]\w*)\s*:/.exec(line)?.[1];
    if (name !== undefined) names.push(name);
  }
  return names;
}
