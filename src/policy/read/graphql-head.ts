import { quoted } from "../../text/index.ts";
import { type Reporter } from "../diagnostics/reporter.ts";
import type { GraphqlSettingsIR, SegmentIR } from "../ir.ts";
import { parametersOf, parsePattern } from "../pattern/parse-pattern.ts";
import type { YamlNode } from "../syntax/tree.ts";
import { readPattern, type PatternForm } from "./pattern.ts";
import type { GraphqlHeadSource, NamedFile, PatternSource } from "./policy-source.ts";
import { CHOICES, GRAPHQL_KEYS, GRAPHQL_LIMIT_KEYS } from "./keys.ts";
import { readChoice, readFields, readInteger, readItems, readString } from "./reader.ts";
import { attachedFileName } from "./attached-file.ts";
import { placeOf } from "../syntax/place-of.ts";

/** The defaults. */
export const GRAPHQL_DEFAULTS: GraphqlHeadSource["settings"] = {
  paths: ["/graphql"],
  multipart: "deny",
  introspection: "deny",
  limits: { depth: 12, aliases: 30, rootFields: 10, tokens: 5000 },
};

/** Reads the `graphql` head. */
export function readGraphqlHead(report: Reporter, node: YamlNode): GraphqlHeadSource | undefined {
  const fields = readFields(report, node, "`graphql`", GRAPHQL_KEYS);
  if (fields === undefined) return undefined;
  const paths = fields.get("paths");
  const otherPaths = fields.get("other_paths");
  const schema = fields.get("schema");
  const persisted = fields.get("persisted");
  const multipart = fields.get("multipart");
  const introspection = fields.get("introspection");
  const limits = fields.get("limits");
  const choice = (value: YamlNode, what: string) => readChoice(report, value, what, CHOICES.multipart);
  const patterns = paths && readPaths(report, paths, "`paths`", "none");
  const others = otherPaths && readOtherPaths(report, otherPaths, patterns);
  const schemaFile = schema && readFileName(report, schema, "schema");
  const documents = persisted && readFileName(report, persisted, "documents");
  return {
    parameters: (patterns ?? []).flatMap(({ segments }) => parametersOf(segments)),
    ...(schemaFile && { schema: schemaFile }),
    ...(documents && { persisted: documents }),
    settings: {
      paths: patterns?.map(withoutRest) ?? GRAPHQL_DEFAULTS.paths,
      ...(others && { otherPaths: others.map(({ method, text }) => ({ method, path: text })) }),
      multipart: (multipart && choice(multipart, "`multipart`")) ?? GRAPHQL_DEFAULTS.multipart,
      introspection:
        (introspection && choice(introspection, "`introspection`")) ?? GRAPHQL_DEFAULTS.introspection,
      limits: limits === undefined ? GRAPHQL_DEFAULTS.limits : readLimits(report, limits),
    },
  };
}

/** An endpoint takes what is below it, whether or not that is written. */
function withoutRest({ text }: PatternSource): string {
  return text.endsWith("/**") ? text.slice(0, -3) || "/" : text;
}

function readPaths(report: Reporter, node: YamlNode, what: string, method: PatternForm["method"]) {
  const items = readItems(report, node, what);
  if (node.kind === "sequence" && items.length === 0)
    report.error(placeOf(node), "empty-value", `${what} must not be empty`);
  return items.flatMap((item) => readPattern(report, item, "a path", { method, wildcards: "rest" }) ?? []);
}

/** What is listed must be below an endpoint, and no part of it: it would exclude the endpoint, or nothing. */
function readOtherPaths(report: Reporter, node: YamlNode, paths: readonly PatternSource[] | undefined) {
  const endpoints =
    paths?.map(({ segments }) => segments.filter(({ kind }) => kind !== "rest")) ??
    GRAPHQL_DEFAULTS.paths.map((path) => parsePattern(path, "none").segments);
  return readPaths(report, node, "`other_paths`", "required").filter((other) => {
    if (endpoints.some((endpoint) => isBelow(other.segments, endpoint))) return true;
    const hint = "requests to other paths are not GraphQL unless they are listed in `paths`";
    report.error(
      placeOf(other.node),
      "not-below-endpoint",
      `${quoted(other.text)} is not below a path in \`paths\``,
      hint,
    );
    return false;
  });
}

/** Whether every path that `segments` matches is below the endpoint. */
function isBelow(segments: readonly SegmentIR[], endpoint: readonly SegmentIR[]): boolean {
  const next = segments[endpoint.length];
  return (
    next !== undefined &&
    next.kind !== "rest" &&
    endpoint.every((own, index) => {
      const segment = segments[index];
      return own.kind !== "literal" || (segment?.kind === "literal" && segment.value === own.value);
    })
  );
}

const FILES = {
  schema: { key: "`schema`", suffix: "`.graphql`" },
  documents: { key: "`persisted`", suffix: "`.json`" },
} as const;

/** The file must be in the policy file's folder or below: policy text must not reach other files. */
function readFileName(report: Reporter, node: YamlNode, kind: keyof typeof FILES): NamedFile | undefined {
  const { key, suffix } = FILES[kind];
  const scalar = readString(report, node, key);
  if (scalar === undefined) return undefined;
  const file = attachedFileName(scalar.source.file, scalar.text, kind);
  if (file !== undefined) return { node: scalar, file };
  const hint = `name a ${suffix} file in this folder or below, relative to this file`;
  const message = `${quoted(scalar.text)} is not a valid ${key} file name`;
  report.error(placeOf(scalar), "invalid-value", message, hint);
  return undefined;
}

/** Highest value of any limit. A higher one would be no limit at all. */
const MAX_LIMIT = 1_000_000;

function readLimits(report: Reporter, node: YamlNode): GraphqlSettingsIR["limits"] {
  const defaults = GRAPHQL_DEFAULTS.limits;
  const fields = readFields(report, node, "`limits`", GRAPHQL_LIMIT_KEYS);
  const limit = (key: string, otherwise: number, least: number) => {
    const value = fields?.get(key);
    return (value && readInteger(report, value, quoted(key), [least, MAX_LIMIT])) ?? otherwise;
  };
  return {
    depth: limit("depth", defaults.depth, 1),
    aliases: limit("aliases", defaults.aliases, 0),
    rootFields: limit("root_fields", defaults.rootFields, 1),
    tokens: limit("tokens", defaults.tokens, 1),
  };
}
