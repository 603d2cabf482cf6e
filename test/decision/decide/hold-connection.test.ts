import assert from "node:assert/strict";
import type { Decision } from "../../../src/decision/types.ts";
import type { TokenSources } from "../../../src/identity/index.ts";
import { ACCEPTABLE_CHECKS } from "../../../src/request/index.ts";
import {
  accessOf,
  bearer,
  deciderOf,
  outcome,
  snapshotOf,
  useIssuer,
  type RequestParts,
} from "../support.ts";

const OPERATIONS = `
graphql_policies:
  - { query: me, condition: exists(user.id) }
  - { subscription: order, condition: exists(user.id) }
`;
const CONNECTION = "websocket_policies:\n  - connection: { path: /graphql, condition: exists(user.id) }\n";
const SET = snapshotOf(OPERATIONS + CONNECTION);

describe("decision: handshakes whose client may say later who it is", () => {
  const idp = useIssuer();
  const HANDSHAKE = [
    ["connection", "Upgrade"],
    ["upgrade", "websocket"],
    ["sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="],
  ] as const;
  const PROTOCOL = ["sec-websocket-protocol", "graphql-transport-ws"] as const;
  const SOURCES: TokenSources = { connectionParams: [["authorization"]] };

  const decide = async (
    { headers = [...HANDSHAKE, PROTOCOL], path = "/graphql", ...parts }: RequestParts = {},
    { set = SET, tokens = SOURCES, token = undefined as string | undefined, none = false } = {},
  ): Promise<Decision> =>
    deciderOf(set, { verifier: idp.verifier, tokens, cookie: "session" })({
      ...accessOf({ path, headers, ...parts }),
      ...(token !== undefined && { ofConnection: { kind: "connection" as const, token } }),
      ...(none && { ofConnection: { kind: "none" as const } }),
    });

  it("are held if nothing but the identity is missing, and then nothing is permitted", async () => {
    for (const protocol of ["graphql-transport-ws", "graphql-ws", "x, GraphQL-WS"]) {
      const headers = [...HANDSHAKE, ["sec-websocket-protocol", protocol] as const];
      const decision = await decide({ headers });
      assert.equal(outcome(decision), "ALLOW CONNECTION_HELD");
      assert.equal(decision.identity, undefined);
      assert.deepEqual(decision.plan?.websocket, {
        limit: 65_536,
        environment: "production",
        plain: false,
        graphql: {
          rules: [],
          limits: { depth: 0, aliases: 0, rootFields: 0, tokens: 0 },
          introspection: "deny",
          default: "deny",
        },
      });
    }
    const path = snapshotOf(
      `${OPERATIONS}policies:\n  - { resource: "* /graphql", condition: exists(user.id) }\n`,
    );
    assert.equal(outcome(await decide({}, { set: path })), "ALLOW CONNECTION_HELD");
  });

  it("are decided with the token, once it is there", async () => {
    const known = await decide({}, { token: await idp.token() });
    assert.equal(outcome(known), "ALLOW CONDITION_TRUE");
    assert.equal(known.identity?.userId, "u-1");
    assert.equal(known.plan?.websocket?.graphql?.rules.length, 2);
    const expired = await decide({}, { token: await idp.token({ exp: 1 }) });
    assert.equal(outcome(expired), "DENY TOKEN_EXPIRED");
    assert.equal(outcome(await decide({}, { none: true })), "DENY IDENTITY_REQUIRED");
  });

  it("are refused with a bad token even where no rule reads the identity", async () => {
    const set = snapshotOf(
      `${OPERATIONS}websocket_policies:\n  - connection: { path: /graphql, condition: true }\n`,
    );
    assert.equal(outcome(await decide({}, { set })), "ALLOW CONDITION_TRUE");
    assert.equal(outcome(await decide({}, { set, token: "x" })), "DENY TOKEN_MALFORMED");
  });

  it("are refused with a token that cannot be verified yet, rather than served as anybody's", async () => {
    const set = snapshotOf("graphql_policies:\n  - { query: me, condition: true }\n");
    const token = await idp.token();
    const late = { ...idp.verifier, cached: () => NOT_READY, verify: () => Promise.resolve(NOT_READY) };
    const decider = deciderOf(set, { verifier: late, tokens: SOURCES });
    const access = accessOf({ path: "/graphql", headers: [...HANDSHAKE, PROTOCOL] });
    const of = { ...access, ofConnection: { kind: "connection" as const, token } };
    assert.equal(outcome(await decider(of)), "DENY IDENTITY_NOT_READY");
    const unknown = deciderOf(set, {
      verifier: idp.verifier,
      tokens: SOURCES,
      controlPlane: { state: () => undefined },
    });
    assert.equal(outcome(await unknown(of)), "DENY CUSTOMER_STATE_NOT_READY");
  });
  const NOT_READY = { ok: false, reason: "IDENTITY_NOT_READY", detail: "" } as const;

  it("are refused in every other case", async () => {
    const expired = await idp.token({ exp: 1 });
    const denials: readonly (readonly [string, string, RequestParts, object?])[] = [
      ["not configured", "IDENTITY_REQUIRED", {}, { tokens: {} }],
      ["no upgrade", "IDENTITY_REQUIRED", { headers: [PROTOCOL] }, { set: withPath("/graphql") }],
      [
        "another protocol",
        "IDENTITY_REQUIRED",
        { headers: [...HANDSHAKE, ["sec-websocket-protocol", "chat"]] },
      ],
      ["no protocol", "IDENTITY_REQUIRED", { headers: HANDSHAKE }],
      ["no endpoint", "IDENTITY_REQUIRED", { path: "/live" }, { set: withConnection("/live") }],
      [
        "below an endpoint",
        "IDENTITY_REQUIRED",
        { path: "/graphql/x" },
        { set: withConnection("/graphql/x") },
      ],
      ["an operation", "GRAPHQL_MALFORMED", { path: "/graphql?query=%7Bme%7D" }],
      [
        "an operation, under a path rule",
        "IDENTITY_REQUIRED",
        { path: "/graphql?query=%7Bme%7D" },
        { set: withPath("/graphql") },
      ],
      ["a bad token", "TOKEN_EXPIRED", { headers: [...HANDSHAKE, PROTOCOL, bearer(expired)] }],
      [
        "a bad cookie",
        "TOKEN_EXPIRED",
        { headers: [...HANDSHAKE, PROTOCOL, ["cookie", `session=${expired}`]] },
      ],
      [
        "a rule that says no",
        "CONDITION_FALSE",
        {},
        { set: snapshotOf(OPERATIONS + CONNECTION.replace("exists(user.id)", "false")) },
      ],
    ];
    const others = { accept: { switchedOff: new Set(ACCEPTABLE_CHECKS) } };
    const ambiguous = deciderOf(withPath("/**"), { verifier: idp.verifier, tokens: SOURCES, ...others });
    const twice = accessOf({ path: "/%67raphql", headers: [...HANDSHAKE, PROTOCOL] });
    assert.equal(outcome(await ambiguous(twice)), "DENY IDENTITY_REQUIRED");
    for (const [name, reason, parts, options] of denials)
      assert.equal(outcome(await decide(parts, options)), `DENY ${reason}`, name);
  });

  const withConnection = (path: string) => snapshotOf(OPERATIONS + CONNECTION.replace("/graphql", path));
  const withPath = (path: string) =>
    snapshotOf(`${OPERATIONS}policies:\n  - { resource: "GET ${path}", condition: exists(user.id) }\n`);
});
