import { nearestHint, quoted } from "../../text/index.ts";
import { type Reporter } from "../diagnostics/reporter.ts";
import type { SectionName } from "../ir.ts";
import type { YamlNode } from "../syntax/tree.ts";
import { readGraphqlRule } from "./graphql-rules.ts";
import { HeadCollector } from "./head.ts";
import { HEAD_KEYS, SECTIONS } from "./keys.ts";
import { readPathRule } from "./path-rules.ts";
import type { PolicySetSource } from "./policy-source.ts";
import { wrongType } from "./reader.ts";
import { readResponseRule } from "./response-rules.ts";
import { readWebsocketEntry } from "./websocket-rules.ts";
import { placeOf } from "../syntax/place-of.ts";

export type * from "./policy-source.ts";
export { GRAPHQL_DEFAULTS } from "./graphql-head.ts";
export { isAttachedFile, mentionedFiles } from "./attached-file.ts";

const KNOWN: readonly string[] = [...HEAD_KEYS, ...SECTIONS];

/**
 * Reads the files of a policy set, in order, into one source. All mistakes are reported. Parts that cannot be read are
 * left out, so that the rest can be checked.
 */
export function readPolicySet(documents: readonly YamlNode[], report: Reporter): PolicySetSource {
  const head = new HeadCollector(report);
  const sections = new Map<string, YamlNode[]>(SECTIONS.map((section) => [section, []]));
  for (const document of documents) {
    if (document.kind !== "mapping") {
      wrongType(report, document, "a policy file", "a mapping");
      continue;
    }
    for (const entry of document.entries) {
      const { key, value } = entry;
      if (!KNOWN.includes(key.text)) {
        const message = `unknown key ${quoted(key.text)} in a policy file`;
        report.error(placeOf(key), "unknown-key", message, () => nearestHint(key.text, KNOWN));
      }
      head.add(entry);
      const before = sections.get(key.text);
      if (before !== undefined) sections.set(key.text, before.concat(entriesOf(report, key.text, value)));
    }
  }

  const read = <Rule>(
    section: SectionName,
    readRule: (node: YamlNode, id: string) => Rule | undefined,
  ): Rule[] =>
    (sections.get(section) ?? []).flatMap((node, index) => readRule(node, `${section}[${index}]`) ?? []);

  const websocket = read("websocket_policies", (node, id) => readWebsocketEntry(report, node, id));
  return {
    root: documents[0],
    head: head.head,
    rules: (["policies", "web_policies"] as const).flatMap((section) =>
      read(section, (node, id) => readPathRule(report, node, section, id)),
    ),
    responses: (["response_filters", "response_masks"] as const).flatMap((section) =>
      read(section, (node, id) => readResponseRule(report, node, section, id)),
    ),
    graphql: read("graphql_policies", (node, id) => readGraphqlRule(report, node, id)),
    connections: websocket.flatMap(({ connections }) => connections),
    messages: websocket.flatMap(({ messages }) => messages),
  };
}

/** A section is a list; `websocket_policies` may also be a single entry. */
function entriesOf(report: Reporter, section: string, value: YamlNode): readonly YamlNode[] {
  if (value.kind === "sequence") return value.items;
  if (section === "websocket_policies" && value.kind === "mapping") return [value];
  wrongType(report, value, quoted(section), "a list");
  return [];
}
