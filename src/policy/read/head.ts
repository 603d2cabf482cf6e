import { quoted } from "../../text/index.ts";
import { placeName, type Reporter } from "../diagnostics/reporter.ts";
import type { MappingEntry, ScalarNode, YamlNode } from "../syntax/tree.ts";
import { readAttributes } from "./attributes.ts";
import { readCorsHead } from "./cors-head.ts";
import { readGraphqlHead } from "./graphql-head.ts";
import { CHOICES, HEAD_KEYS } from "./keys.ts";
import type { HeadSource } from "./policy-source.ts";
import { readChoice, readString } from "./reader.ts";
import { readAudit } from "./rule.ts";
import { placeOf } from "../syntax/place-of.ts";

/** Reads the value of one head key. */
type HeadReader = (report: Reporter, node: YamlNode) => HeadSource;

/** The keys of the head. Each may occur in only one file of the set. */
const HEAD: Readonly<Record<(typeof HEAD_KEYS)[number], HeadReader>> = {
  policy_set: (report, node) =>
    given("name", readLabel(report, readString(report, node, "`policy_set`"), "`policy_set`")),
  version: (report, node) => given("version", readVersion(report, node)),
  default: (report, node) => given("default", readChoice(report, node, "`default`", CHOICES.default)),
  preflight: (report, node) => given("preflight", readChoice(report, node, "`preflight`", CHOICES.preflight)),
  cors: (report, node) => given("cors", readCorsHead(report, node)),
  audit: (report, node) => ({ auditRequired: readAudit(report, node) }),
  attributes: (report, node) => given("attributes", readAttributes(report, node)),
  graphql: (report, node) => given("graphql", readGraphqlHead(report, node)),
};

/** The parts of `name@version`, which audit records and metrics contain. */
const LABEL = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

/** Collects the head of a set from all of its files. */
export class HeadCollector {
  readonly #report: Reporter;
  readonly #places = new Map<string, ScalarNode>();
  #head: HeadSource = {};

  constructor(report: Reporter) {
    this.#report = report;
  }

  get head(): HeadSource {
    return this.#head;
  }

  /** Consumes an entry if it belongs to the head. A key that another file already has is reported. */
  add({ key, value }: MappingEntry): void {
    const known = HEAD_KEYS.find((name) => name === key.text);
    const read = known && HEAD[known];
    if (read === undefined) return;
    const first = this.#places.get(key.text);
    if (first !== undefined) {
      const message = `${quoted(key.text)} is set in two files; first at ${placeName(first)}`;
      this.#report.error(placeOf(key), "repeated-head-key", message, "set it in one file only");
      return;
    }
    this.#places.set(key.text, key);
    this.#head = { ...this.#head, ...read(this.#report, value) };
  }
}

function readVersion(report: Reporter, node: YamlNode): string | undefined {
  // `version: 1.10` is a number in YAML; the text as written counts
  const isNumber = node.kind === "scalar" && typeof node.value === "number";
  return readLabel(report, isNumber ? node : readString(report, node, "`version`"), "`version`");
}

function readLabel(report: Reporter, scalar: ScalarNode | undefined, what: string): string | undefined {
  if (scalar === undefined || LABEL.test(scalar.text)) return scalar?.text;
  const hint = "use at most 100 letters, digits, `.`, `_` and `-`, starting with a letter or digit";
  report.error(
    placeOf(scalar),
    "invalid-value",
    `${quoted(scalar.text)} is not a valid value for ${what}`,
    hint,
  );
  return undefined;
}

function given<K extends keyof HeadSource>(key: K, value: HeadSource[K] | undefined): HeadSource {
  return value === undefined ? {} : { [key]: value };
}
