import { PROXY_REASONS, REASONS, REFUSAL_REASONS, type Reason } from "../../src/reasons.ts";
import { ACCEPTABLE_CHECKS } from "../../src/request/index.ts";

const HEAD = `# Reasons

Every record of the audit and every decision in the metrics has one of these reasons; clients see the status and the public
code, and the reason where \`gateway.denial_details\` is \`reason\`. This page is made from \`src/reasons.ts\`
(\`GATEHOUSE_UPDATE=1 mocha test/reasons.test.ts\`).
`;

const CHECKS = `
## Checks behind the \`AMBIGUOUS_\` reasons

\`detail\` of the record names the check. \`gateway.accept_ambiguous\` switches those off that have a switch; the rules must
then permit whatever an application may take the request for ([policies](policies.md#ambiguous-requests)).
`;

const PROXY = `
## What Envoy refuses by itself

Before any decision: these records have no user and no rule, and Envoy's \`response_code_details\` as \`detail\`. A client that has
gone got no answer; 499 stands for that. Envoy may answer with another status than the one here where it knows more
(501 to an unknown transfer encoding). \`OVERLOADED\` also comes from a worker that falls behind, to
tokens that are bad or may be, without a detail.
`;

/** docs/reasons.md, as the table of reasons has it. */
export function reasonsReference(): string {
  const all = Object.keys(REASONS) as Reason[];
  const ofProxy = new Set<Reason>(PROXY_REASONS);
  return [
    HEAD,
    table(all.filter((reason) => !ofProxy.has(reason))),
    PROXY,
    table(PROXY_REASONS),
    CHECKS,
    checks(),
  ].join("\n");
}

function table(reasons: readonly Reason[]): string {
  const rows = reasons.map((reason) => {
    const { status, code, message } = REASONS[reason];
    return `| \`${reason}\` | ${status} | \`${code}\` | ${message} |\n`;
  });
  return `| reason | status | public code | |\n|---|---|---|---|\n${rows.join("")}`;
}

function checks(): string {
  const accepted: readonly string[] = ACCEPTABLE_CHECKS;
  const rows = Object.entries(REFUSAL_REASONS).map(
    ([check, reason]) => `| \`${check}\` | \`${reason}\` | ${accepted.includes(check) ? "yes" : "no"} |\n`,
  );
  return `| check | reason | has a switch |\n|---|---|---|\n${rows.join("")}`;
}
