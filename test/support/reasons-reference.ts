import { END_REASONS } from "../../src/control/resources/sessions/end.ts";
import { SIGN_IN_FAILURES } from "../../src/control/sign-in/failure.ts";
import { LOCAL_REPLIES } from "../../src/gateway/local-replies.ts";
import { PROXY_REASONS, REASONS, REFUSAL_REASONS, type Reason } from "../../src/reasons.ts";
import { ACCEPTABLE_CHECKS } from "../../src/request/index.ts";

const HEAD = `# Reasons

Every record of the audit and every decision in the metrics has one of these reasons; clients see the status and the public
code, and the reason where \`gateway.denial_details\` is \`reason\`. This page is made from \`src/reasons.ts\`
(\`GATEHOUSE_UPDATE=1 npx mocha test/reasons.test.ts\`).
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

const REPLIES = `
## Answers that Envoy makes by itself

The status and public code of what does not come from a decision: what is refused before one (above), and what becomes of
an allowed request whose application does not answer.
`;

const GRAPHQL = `
## In GraphQL's \`errors\`

\`extensions.code\` of a field that is denied is \`ACCESS_DENIED\`, and \`INTROSPECTION_DENIED\` for \`__schema\` and
\`__type\` where the set does not allow introspection.
`;

const CLOSINGS = `
## How WebSocket connections are closed

The code and reason of the CLOSE that both sides get; the record of the connection has them as \`closed\`. A connection that
breaks the protocol is closed by the code for that (1002, 1003, 1007, 1009), and GraphQL's subprotocols have codes of their own
(4400 and others).

| reason | code | |
|---|---|---|
| \`POLICY_CHANGED\` | 1008 | what permitted the connection is gone: its rule, or the user's or customer's permission |
| \`POLICY_CHANGED\` | 1012 | it is permitted, with other rules for its messages, which need a new handshake |
| \`IDENTITY_CHANGED\` | 1012 | it was let in as nobody's, because the issuer's keys or the user's standing were not known; a new handshake counts for who it is |
| \`TOKEN_EXPIRED\`, \`SESSION_ENDED\` and other codes of 401 | 1008 | who is connected has to sign in again |
| \`ACCESS_DENIED\` | 1008 | a message was denied whose rule says \`on_deny: close\` |
| \`TOO_MANY_DENIED\` | 1008 | more messages were denied than the client could be told of |
| \`PLAN_UNUSABLE\` | 1011 | the new rules for its messages could not be read in Envoy |
| \`INTERNAL_ERROR\` | 1011 | the gateway failed |
| \`SERVICE_UNAVAILABLE\` | 1013 | it is not known whether the connection may go on: the worker that knows is away, or is not ready |
| \`UPGRADE_NOT_DELIVERED\` | 1002 | to the application alone: its answer to the handshake was not delivered |

In \`policy explain --websocket\` a message has \`NOT_LISTED\` where its direction lists no types, and so lets all of them pass,
\`UNREADABLE\` where fields of it should have been masked and could not, and \`CLOSED\` after the connection was closed.
`;

const SIGN_INS = `
## Why a sign-in fails

\`reason\` of \`user.authentication_failed\` and of \`policy.violated\` at a sign-in or refresh; the browser carries it to the
application, beside the \`error\` of OAuth 2.0.
`;

const SESSIONS = `
## Why a session ended

\`end_reason\` of a session, and \`reason\` of \`user.logged_out\` (\`logout\`) and \`session.revoked\` (all others):
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
    REPLIES,
    replies(),
    GRAPHQL,
    CLOSINGS,
    SIGN_INS,
    signIns(),
    `${SESSIONS}${END_REASONS.map((reason) => `\`${reason}\``).join(", ")}.\n`,
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

/** Those with a status of their own, as clients see them. */
function replies(): string {
  const rows = LOCAL_REPLIES.map(({ when: [first], status, code, message }) => {
    const known = /"op":"(EQ|GE)","value":\{"default_value":(\d+)/.exec(JSON.stringify(first));
    if (known === null) throw new Error(`the reply ${code} is for no status`);
    const [, op, value] = known;
    return `| ${status ?? (op === "GE" ? `other ${String(value).charAt(0)}xx` : value)} | \`${code}\` | ${message} |\n`;
  });
  // several words of Envoy come to one of them
  return `| status | public code | |\n|---|---|---|\n${[...new Set(rows)].join("")}`;
}

function signIns(): string {
  const rows = Object.entries(SIGN_IN_FAILURES).map(([reason, text]) => `| \`${reason}\` | ${text} |\n`);
  return `| reason | |\n|---|---|\n${rows.join("")}`;
}
