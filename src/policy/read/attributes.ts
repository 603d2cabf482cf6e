import { nearestHint, quoted } from "../../text/index.ts";
import { compileCondition, parseCondition, type AttributeNode } from "../condition/index.ts";
import { reportWithin } from "../syntax/report-within.ts";
import { type Reporter } from "../diagnostics/reporter.ts";
import type { AttributePath, AttributeType } from "../ir.ts";
import { BASE_ROOTS, isIdentifier, KEYWORDS, OUTSIDE_ROOTS } from "../roots.ts";
import type { MappingEntry, ScalarNode, YamlNode } from "../syntax/tree.ts";
import { ATTRIBUTE_KEYS } from "./keys.ts";
import type { AttributeRootSource } from "./policy-source.ts";
import {
  placeOfKey,
  readChoice,
  readFields,
  readFlag,
  readString,
  wrongType,
  type Fields,
} from "./reader.ts";
import { placeOf } from "../syntax/place-of.ts";

const TYPES: readonly AttributeType[] = ["string", "number", "boolean", "list", "object"];
const MAX_MEMBER_LENGTH = 200;
/** Names of attribute sources, which are configured outside the policy set. */
const SOURCE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

/** Reads the `attributes` head: roots with the types of their members, and the sources of those that are looked up. */
export function readAttributes(report: Reporter, node: YamlNode): readonly AttributeRootSource[] | undefined {
  if (node.kind !== "mapping") {
    wrongType(report, node, "`attributes`", "a mapping");
    return undefined;
  }
  return node.entries.flatMap((entry) => readRoot(report, entry) ?? []);
}

function readRoot(report: Reporter, { key, value }: MappingEntry): AttributeRootSource | undefined {
  const name = key.text;
  if (!isIdentifier(name) || KEYWORDS.has(name.toLowerCase())) {
    const hint = "use letters, digits and `_`, and no keyword of the condition language";
    report.error(placeOf(key), "invalid-name", `${quoted(name)} is not a valid attribute name`, hint);
    return undefined;
  }
  if (BASE_ROOTS.includes(name) && !OUTSIDE_ROOTS.includes(name)) {
    report.error(
      placeOf(key),
      "reserved-name",
      `the members of ${quoted(name)} are fixed and cannot be declared`,
    );
    return undefined;
  }
  const fields = readFields(report, value, quoted(name), ATTRIBUTE_KEYS);
  if (fields === undefined) return undefined;
  const types = readTypes(report, fields.get("types"));
  const openNode = fields.get("open");
  const open = openNode !== undefined && readFlag(report, openNode, "`open`");
  const lookup = readLookup(report, name, fields);
  return { name, node: key, types, open, ...(lookup && { lookup }) };
}

function readTypes(report: Reporter, node: YamlNode | undefined): Readonly<Record<string, AttributeType>> {
  if (node === undefined) return {};
  if (node.kind !== "mapping") {
    wrongType(report, node, "`types`", "a mapping");
    return {};
  }
  const types: [string, AttributeType][] = [];
  for (const { key, value } of node.entries) {
    const name = key.text;
    if (
      name.length > MAX_MEMBER_LENGTH ||
      name.split(".").some((part) => part.trim() === "" || part === "__proto__")
    ) {
      report.error(placeOf(key), "invalid-name", `${quoted(name)} is not a valid attribute name`);
    }
    const type = readChoice(report, value, `the type of ${quoted(name)}`, TYPES);
    if (type !== undefined) types.push([name, type]);
  }
  const read = Object.fromEntries(types);
  for (const { key } of node.entries) {
    const above = valueAbove(key.text, read);
    if (above === undefined) continue;
    const message = `${quoted(above)} is declared as a ${read[above] ?? ""} and has no members`;
    report.error(
      placeOf(key),
      "invalid-value",
      message,
      `declare ${quoted(above)} as an object, or delete its declaration`,
    );
  }
  return read;
}

/** @returns the prefix of a dotted name that is declared as something other than an object */
function valueAbove(name: string, types: Readonly<Record<string, AttributeType>>): string | undefined {
  const parts = name.split(".");
  return parts
    .slice(1)
    .map((_, index) => parts.slice(0, index + 1).join("."))
    .find((above) => Object.hasOwn(types, above) && types[above] !== "object");
}

function readLookup(
  report: Reporter,
  name: string,
  fields: Fields,
): AttributeRootSource["lookup"] | undefined {
  const given = ["source", "key"].filter((key) => fields.get(key) !== undefined);
  if (given.length === 0) return undefined;
  if (OUTSIDE_ROOTS.includes(name)) {
    const message = `${quoted(name)} comes with the request and cannot be looked up`;
    for (const key of given)
      report.error(placeOfKey(fields, key), "reserved-name", message, "choose another name");
    return undefined;
  }
  const sourceNode = fields.require("source");
  const keyNode = fields.require("key");
  const source = sourceNode && readString(report, sourceNode, "`source`");
  const key = keyNode && readKey(report, keyNode);
  if (source === undefined || key === undefined) return undefined;
  if (SOURCE.test(source.text)) return { source: source.text, key: key.path, written: key, node: source };
  report.error(
    placeOf(source),
    "invalid-name",
    `${quoted(source.text)} is not a valid name for an attribute source`,
  );
  return undefined;
}

interface KeySource {
  readonly path: AttributePath;
  readonly attribute: AttributeNode;
  readonly node: ScalarNode;
}

/** The key of a look-up: an attribute that does not need another look-up. */
const KEY_ROOTS = ["user", "customer", "path", "request"] as const;

function readKey(report: Reporter, node: YamlNode): KeySource | undefined {
  const scalar = readString(report, node, "`key`");
  if (scalar === undefined) return undefined;
  const { ast, findings } = parseCondition(scalar.text);
  for (const finding of findings) reportWithin(report, scalar, finding);
  if (ast === undefined) return undefined;
  // as in compiled form: header names are in lower case
  const attribute = ast.op === "attribute" ? ast : undefined;
  const [path] = attribute === undefined ? [] : compileCondition(attribute, scalar.text).reads;
  if (attribute === undefined || path === undefined || path.length < 2) {
    report.error(
      placeOf(scalar),
      "invalid-value",
      "`key` is not an attribute path",
      "write a path such as `path.user_id`",
    );
    return undefined;
  }
  const [root = ""] = path;
  if (KEY_ROOTS.some((known) => known === root)) return { path, attribute, node: scalar };
  const message = `\`key\` cannot start with ${quoted(`${root}.`)}`;
  report.error(placeOf(scalar), "unknown-root", message, nearestHint(root, KEY_ROOTS));
  return undefined;
}
