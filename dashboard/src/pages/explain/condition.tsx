import type { PlainExplanation } from "../../core/explain-protocol.ts";
import { messages } from "../../messages/index.ts";
import { Badge } from "../../ui/parts.tsx";

const texts = messages.explain.value;

export type Explained = Extract<PlainExplanation, { readonly near: readonly object[] }>;
type Rule = NonNullable<Extract<PlainExplanation, { readonly rule?: unknown }>["rule"]>;
export type Trace = Rule["condition"];
export type RuleName = Omit<Rule, "condition">;

const COLOURS = { true: "ALLOW", false: "DENY", unknown: "unknown" } as const;

/** A condition with the verdict of each part, and the values that it read. */
export function Condition({ trace }: { readonly trace: Trace }) {
  return (
    <ul class="trace">
      <Part node={trace} />
    </ul>
  );
}

function Part({ node }: { readonly node: Trace }) {
  return (
    <li>
      <Badge of={COLOURS[node.verdict]} title={node.verdict} /> <code>{node.text}</code>
      {node.reads.length > 0 && (
        <ul class="reads">
          {node.reads.map((read) => (
            <li key={read.path}>
              <code>{read.path}</code> {valueOf(read, node)}
            </li>
          ))}
        </ul>
      )}
      {node.children.length > 0 && (
        <ul>
          {node.children.map((child, index) => (
            <Part key={index} node={child} />
          ))}
        </ul>
      )}
    </li>
  );
}

const SENT = /^request\.(?:query|headers)[.[]/;

function valueOf({ path, state, value }: Trace["reads"][number], { verdict }: Trace) {
  if (state !== "present") return <em>{texts[state]}</em>;
  const several = verdict === "unknown" && Array.isArray(value) && value.length > 1 && SENT.test(path);
  return (
    <>
      {texts.is("")}
      <code>{JSON.stringify(value)}</code>
      {several && <em> {texts.several}</em>}
    </>
  );
}

/** A rule by its name and place. */
export function RuleLine({ rule }: { readonly rule: RuleName }) {
  return (
    <p class="rule">
      <code>{rule.resource}</code> <strong>{rule.name ?? rule.id}</strong>{" "}
      <span class="quiet">{rule.at}</span>
    </p>
  );
}
