import { quoted } from "../../text/index.ts";
import { placeName, type Reporter } from "../diagnostics/reporter.ts";
import type { MappingEntry, ScalarNode, YamlNode } from "../syntax/tree.ts";
import { readAttributes } from "./attributes.ts";
import { readGraphqlHead } from "./graphql-head.ts";
import type { HeadSource } from "./policy-source.ts";
import { readChoice, readString } from "./reader.ts";
import { readAudit } from "./rule.ts";
import { placeOf } from "../syntax/place-of.ts";

/** Reads one head key's value into what it says. */
type HeadReader = (report: Reporter, node: YamlNode) => HeadSource;

/** The keys of the head: each may stand in one file of the set only. */
const HEAD: Readonly<Record<string, HeadReader>> = {
  policy_set: (report, node) =>
    given("name", readLabel(report, readString(report, node, "`policy_set`"), "`policy_set`")),
  version: (report, node) => given("version", readVersion(report, node)),
  default: (report, node) => given("default", readChoice(report, node, "`default`", ["deny", "allow"])),
  preflight: (report, node) => given("preflight", readChoice(report, node, "`preflight`", ["deny", "allow"])),
  audit: (report, node) => ({ auditRequired: readAudit(report, node) }),
  attributes: (report, node) => given("attributes", readAttributes(report, node)),
  graphql: (report, node) => given("graphql", readGraphqlHead(report, node)),
};

export const HEAD_KEYS: readonly string[] = Object.keys(HEAD);

/** What goes into `name@version`, which stands in audit records and metrics. */
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

  /** Takes an entry if it is one of the head; a key that another file has, too, is reported. */
  add({ key, value }: MappingEntry): void {
    const read = Object.hasOwn(HEAD, key.text) ? HEAD[key.text] : undefined;
    if (read === undefined) return;
    const first = this.#places.get(key.text);
    if (first !== undefined) {
      const message = `${quoted(key.text)} stands in two files of the set, first at ${placeName(first)}`;
      this.#report.error(placeOf(key), "repeated-head-key", message, "keep it in one file");
      return;
    }
    this.#places.set(key.text, key);
    this.#head = { ...this.#head, ...read(this.#report, value) };
  }
}

function readVersion(report: Reporter, node: YamlNode): string | undefined {
  // `version: 1.10` is a number to YAML; what counts is how it is written
  const isNumber = node.kind === "scalar" && typeof node.value === "number";
  return readLabel(report, isNumber ? node : readString(report, node, "`version`"), "`version`");
}

function readLabel(report: Reporter, scalar: ScalarNode | undefined, what: string): string | undefined {
  if (scalar === undefined || LABEL.test(scalar.text)) return scalar?.text;
  const hint = "use at most 100 letters, digits, `.`, `_` and `-`, a letter or digit first";
  report.error(placeOf(scalar), "invalid-value", `${what} cannot be ${quoted(scalar.text)}`, hint);
  return undefined;
}

function given<K extends keyof HeadSource>(key: K, value: HeadSource[K] | undefined): HeadSource {
  return value === undefined ? {} : { [key]: value };
}
