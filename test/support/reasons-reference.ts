import { END_REASONS } from "../../src/control/resources/sessions/end.ts";
import { SIGN_IN_FAILURES } from "../../src/control/sign-in/failure.ts";
import { LOCAL_REPLIES } from "../../src/gateway/local-replies.ts";
import { PROXY_REASONS, REASONS, type Reason } from "../../src/reasons.ts";
import { REFUSAL_REASONS } from "../../src/refusal-reasons.ts";
import { ACCEPTABLE_CHECKS } from "../../src/request/index.ts";

const HEAD = `# Reasons

Every audit record, and every decision in the metrics, has one of these reasons. Clients see the status and the public code,
and also the reason if \`gateway.denial_details\` is \`reason\`. This page is generated from \`src/reasons.ts\`
(\`GATEHOUSE_UPDATE=1 npx mocha test/reasons.test.ts\`).
`;

const CHECKS = `
## Checks behind the \`AMBIGUOUS_\` reasons

\`detail\` of the record names the check. \`gateway.accept_ambiguous\` turns off the checks that can be turned off; the rules must
then permit every way in which an application may read the request ([policies](policies.md#ambiguous-requests)). What a check
of \`AMBIGUOUS_PATH\` finds in the query has the reason \`AMBIGUOUS_QUERY\`.
`;

const PROXY = `
## Requests that Envoy itself refuses

These are refused before any decision: their records have no user and no rule, and \`detail\` is Envoy's
\`response_code_details\`. A client that has disconnected got no response; its status is recorded as 499. If Envoy knows more, it
may respond with a status other than the one listed here (501 for an unknown transfer encoding). \`OVERLOADED\` is also the
response of an overloaded worker to tokens that are bad or may be bad, without a detail.
`;

const REPLIES = `
## Envoy's own responses

The status and public code of responses that do not come from a decision: refusals before one (above), and responses to
allowed requests whose application does not respond.
`;

const GRAPHQL = `
## In GraphQL's \`errors\`

\`extensions.code\` of a denied field is \`ACCESS_DENIED\`; for \`__schema\` and \`__type\` it is \`INTROSPECTION_DENIED\` if the
policy set does not allow introspection.
`;

const CLOSINGS = `
## How WebSocket connections are closed

The code and reason of the CLOSE that both sides get; the record of the connection has them in \`closed\`. A connection that
violates the protocol is closed with the code for that (1002, 1003, 1007, 1009), and GraphQL's subprotocols have their own codes:
4400 for messages that are none, 4401, 4408 and 4429 for \`connection_init\` too late or twice, and 4403 with the code of a denial
for a token in it that is refused. A GraphQL connection is closed with 4403 instead of 1008: after 4403, graphql-ws connects
again with new parameters, and after 1008 it gives up.

| reason | code | |
|---|---|---|
| \`POLICY_CHANGED\` | 1008 | the connection is no longer permitted: the rule, or the state of the user or the customer, has changed |
| \`POLICY_CHANGED\` | 1012 | it is still permitted, but with different rules for its messages, which require a new handshake |
| \`IDENTITY_CHANGED\` | 1012 | it was accepted without an identity, because the issuer's keys or the state of the user were unknown; a new handshake will be identified |
| \`TOKEN_EXPIRED\`, \`SESSION_ENDED\` and other codes of 401 | 1008 | the user must sign in again |
| \`ACCESS_DENIED\` | 1008 | a message was denied, and its rule says \`on_deny: close\` |
| \`TOO_MANY_DENIED\` | 1008 | more messages were denied than the client could be notified of |
| \`PLAN_UNUSABLE\` | 1011 | the new rules for its messages could not be read in Envoy |
| \`INTERNAL_ERROR\` | 1011 | the gateway failed |
| \`SERVICE_UNAVAILABLE\` | 1013 | it is unknown whether the connection is still permitted: the worker that manages it is unavailable or not ready |
| \`UPGRADE_NOT_DELIVERED\` | 1002 | sent only to the application: its response to the handshake was not delivered |

In \`policy explain --websocket\` a message has \`NOT_LISTED\` if its direction lists no types, so that all messages pass,
\`UNREADABLE\` if its fields should have been masked but could not be, and \`CLOSED\` after the connection was closed.
`;

const SIGN_INS = `
## Why a sign-in fails

\`reason\` of \`user.authentication_failed\`, and of \`policy.violated\` at a sign-in or refresh; the browser passes it to the
application, next to the \`error\` of OAuth 2.0.
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
