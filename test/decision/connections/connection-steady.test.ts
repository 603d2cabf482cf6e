import assert from "node:assert/strict";
import type { JWTPayload } from "jose";
import type { KnownState } from "../../../src/decision/decide/check-session.ts";
import { belongsTo, isSteady } from "../../../src/decision/connections/connection-steady.ts";
import { lasting } from "../../../src/decision/connections/reevaluation.ts";
import type { FileSource } from "../../../src/decision/attributes/sources.ts";
import type { Identity } from "../../../src/identity/index.ts";
import { ACCEPTABLE_CHECKS } from "../../../src/request/index.ts";
import type { AuthenticationRules } from "../../../src/customer-state/index.ts";
import { allow, connection, deny, POLICY_CHANGED, registry, START } from "./support.ts";
import { accessOf, bearer, deciderOf, outcome, snapshotOf, useIssuer } from "../support.ts";

/** A registry that says which connections were evaluated. */
function watched(options: Parameters<typeof registry>[0] = {}) {
  const seen: string[] = [];
  const world = registry({
    evaluate: ({ requestId }) => {
      seen.push(requestId);
      return { ...allow("plan"), steady: requestId.startsWith("steady") };
    },
    ...options,
  });
  const evaluated = async (work: () => Promise<void>) => {
    await work();
    return seen.splice(0);
  };
  return { ...world, evaluated };
}

describe("decision: connections that are evaluated only when something has changed", () => {
  const add = ({ connections }: ReturnType<typeof watched>, ids: readonly string[]) => {
    for (const id of ids) connections.add(connection(id, { steady: id.startsWith("steady") }));
  };

  it("are kept with all that says who sent the handshake", () => {
    const access = {
      ...accessOf(),
      proxyProtocol: "tcp" as const,
      forwardedProto: ["https"],
      traceparent: "x",
    };
    const { traceparent, bodies, ...kept } = access;
    assert.deepEqual(lasting(access), { ...kept, deadline: Number.POSITIVE_INFINITY });
  });

  it("are left alone at a refresh; others are not", async () => {
    const world = watched();
    add(world, ["steady", "other"]);
    for (let time = 0; time < 3; time += 1)
      assert.deepEqual(await world.evaluated(() => world.connections.refresh()), ["other"]);
  });

  it("are all evaluated when something that all depend on has changed, and once", async () => {
    const circumstances: unknown[] = [1, "ready"];
    const world = watched({ circumstances: () => [...circumstances] });
    await world.connections.refresh();
    add(world, ["steady", "other"]);
    const refreshed = () => world.evaluated(() => world.connections.refresh());
    assert.deepEqual(await refreshed(), ["other"]);
    circumstances[0] = 2;
    assert.deepEqual(await refreshed(), ["steady", "other"]);
    assert.deepEqual(await refreshed(), ["other"]);
    circumstances.push(undefined);
    assert.deepEqual(await refreshed(), ["steady", "other"]);
  });

  it("are evaluated when it concerns them, or everybody", async () => {
    const world = watched();
    add(world, ["steady-1", "steady-2", "other"]);
    const concerned = world.evaluated(() =>
      world.connections.reevaluate(({ decisionId }) => decisionId === "steady-2"),
    );
    assert.deepEqual(await concerned, ["steady-2", "other"]);
    assert.deepEqual(await world.evaluated(() => world.connections.reevaluate()), [
      "steady-1",
      "steady-2",
      "other",
    ]);
  });

  it("are closed by a set that denies, like all others", async () => {
    const world = registry({ evaluate: () => deny("CONDITION_FALSE") });
    for (const id of ["a", "b"]) world.connections.add(connection(id, { steady: id === "a" }));
    await world.connections.reevaluate();
    assert.deepEqual(world.connections.directives().closed, { a: POLICY_CHANGED, b: POLICY_CHANGED });
  });

  it("are evaluated by what a change of policies makes of them from then on", async () => {
    let steady = false;
    const seen: string[] = [];
    const { connections } = registry({
      evaluate: ({ requestId }) => {
        seen.push(requestId);
        return { ...allow("plan"), steady };
      },
    });
    connections.add(connection("a", { steady: true }));
    await connections.reevaluate();
    await connections.refresh();
    steady = true;
    await connections.refresh();
    await connections.refresh();
    // by the change, by the refresh after it, and by the one that finds it steady
    assert.deepEqual(seen, ["a", "a", "a"]);
  });

  it("are evaluated after they have expired, should Envoy not have closed them", async () => {
    const world = watched();
    const expiresAt = START / 1000 + 60;
    world.connections.add(connection("steady", { steady: true, expiresAt }));
    const refreshed = () => world.evaluated(() => world.connections.refresh());
    assert.deepEqual(await refreshed(), []);
    world.state.now = START + 60_000;
    assert.deepEqual(await refreshed(), ["steady"]);
  });

  it("are evaluated when they come after a change that concerned somebody else", async () => {
    const world = watched();
    world.state.now = START + 10;
    await world.connections.reevaluate(() => false);
    const access = accessOf({ requestId: "steady", at: START + 9 });
    world.connections.add(connection("steady", { access, steady: true }));
    const done = world.evaluated(() => world.connections.reevaluate(() => false));
    assert.deepEqual(await done, ["steady"]);
  });

  it("are evaluated again although the same one is being waited for", async () => {
    const answers: ((evaluated: ReturnType<typeof allow>) => void)[] = [];
    const { connections } = registry({ evaluate: () => new Promise((resolve) => answers.push(resolve)) });
    connections.add(connection("a"));
    const first = connections.reevaluate();
    while (answers.length < 1) await new Promise(setImmediate);
    const second = connections.reevaluate(() => true);
    answers[0]?.(allow("plan"));
    while (answers.length < 2) await new Promise(setImmediate);
    answers[1]?.(deny("CONDITION_FALSE"));
    await Promise.all([first, second]);
    assert.deepEqual(connections.directives().closed, { a: POLICY_CHANGED });
  });
});

describe("decision: whether a connection is steady", () => {
  const idp = useIssuer();

  const ATTRIBUTES = "attributes:\n  target: { source: users, key: user.id }\n";
  const FEED = "websocket_policies:\n  - connection: { path: /feed, condition: exists(user.id) }\n";
  const PATH = 'policies:\n  - { resource: "GET /feed", condition: "true" }\n';
  const masking = (condition: string, pattern = "/feed") =>
    `response_masks:\n  - { api_pattern: ${pattern}, fields: [{ name: a, condition: '${condition}', mask_type: full }] }\n`;
  const message = (condition: string) =>
    `${FEED}    message_types: [{ type: a, condition: '${condition}' }]\n`;
  const graphql = (condition: string) => `graphql_policies:\n  - { query: me, condition: '${condition}' }\n`;

  interface World {
    readonly set: string;
    readonly own?: string;
    readonly authentication?: Partial<AuthenticationRules>;
    readonly claims?: JWTPayload | null;
    readonly headers?: readonly (readonly [string, string])[];
    readonly path?: string;
  }

  const decide = async ({
    set,
    own,
    authentication = {},
    claims = {},
    headers = [],
    path = "/feed",
  }: World) => {
    const customer = {
      id: "cus_1",
      status: "active" as const,
      authentication: {
        mfa_required: false,
        allowed_email_domains: [],
        allowed_ip_ranges: [],
        ...authentication,
      },
      policy_sets: own === undefined ? [] : ["own"],
    };
    const standings: KnownState = {
      customer: () => customer,
      sessionEnded: () => false,
      userStatus: () => "active",
    };
    const sets = own === undefined ? {} : { own: snapshotOf(own) };
    const main = snapshotOf(set);
    const auth_time = Math.floor(Date.now() / 1000);
    const token =
      claims === null ? [] : [bearer(await idp.token({ customer_id: "cus_1", auth_time, ...claims }))];
    const upgrade = [
      ["upgrade", "websocket"],
      ["connection", "upgrade"],
      ["sec-websocket-version", "13"],
    ] as const;
    const access = accessOf({ path, headers: [...upgrade, ...token, ...headers] });
    const source: Pick<FileSource, "lookup"> = { lookup: () => ({ name: "a" }) };
    const decision = await deciderOf(main, {
      verifier: idp.verifier,
      controlPlane: { state: () => standings },
      sets,
      sources: new Map([["users", source]]),
      accept: { switchedOff: new Set(ACCEPTABLE_CHECKS) },
    })(access);
    const policies = { main, customers: new Map(Object.entries(sets)) };
    const steady = decision.verdict === "ALLOW" && isSteady(access, decision, { policies, state: standings });
    return { decision, steady };
  };

  const cases: readonly [name: string, world: World, steady: boolean][] = [
    ["who is asking", { set: FEED }, true],
    ["env elsewhere", { set: `${FEED}${masking("env.hour < 9", "/other")}` }, true],
    ["env for the path", { set: PATH.replace('"true"', "env.hour >= 0") }, false],
    ["env for the connection", { set: FEED.replace("exists(user.id)", "env.hour >= 0") }, false],
    ["env for a message", { set: message("env.hour >= 0") }, false],
    ["env for a field", { set: `${FEED}${masking("env.hour < 9")}` }, false],
    ["env for an operation", { set: graphql("env.hour >= 0"), path: "/graphql" }, false],
    ["no env for an operation", { set: graphql("exists(user.id)"), path: "/graphql" }, true],
    [
      "a source for the path",
      { set: `${ATTRIBUTES}${PATH.replace('"true"', "exists(target.name)")}` },
      false,
    ],
    ["a source for a message", { set: `${ATTRIBUTES}${message("exists(target.name)")}` }, false],
    [
      "a source for an operation",
      { set: `${ATTRIBUTES}${graphql("exists(target.name)")}`, path: "/graphql" },
      false,
    ],
    [
      "env for what it may be taken for",
      {
        set: `default: allow\npolicies:\n  - { resource: "GET /feed", condition: "env.hour >= 0" }\n${FEED.replace(" path: /feed,", "")}`,
        path: "//feed",
      },
      false,
    ],
    [
      "env for the path without a format",
      {
        set: `policies:
  - { resource: "GET /{any}", condition: "true" }
  - { resource: "GET /feed", condition: "env.hour >= 0" }
websocket_policies:
  - connection: { path: "/{any}", condition: "true" }
`,
        path: "/feed.json",
      },
      false,
    ],
    [
      "env for the path without a format, in the customer's own set",
      {
        set: `policies: [{ resource: "GET /{any}", condition: "true" }]
websocket_policies: [{ connection: { path: "/{any}", condition: "true" } }]
`,
        own: `policies:
  - { resource: "GET /{any}", condition: "true" }
  - { resource: "GET /feed", condition: "env.hour >= 0" }
websocket_policies: [{ connection: { path: "/{any}", condition: "true" } }]
`,
        path: "/feed.json",
      },
      false,
    ],
    ["env in the customer's own set", { set: FEED, own: `${FEED}${masking("env.hour < 9")}` }, false],
    ["no env in the customer's own set", { set: FEED, own: `${FEED}${masking("true", "/other")}` }, true],
    ["the age of the session", { set: FEED, authentication: { max_session_duration: 600 } }, false],
    ["nothing, for nobody", { set: PATH, claims: null }, true],
    [
      "nothing, for somebody with a cookie that may come to mean something",
      { set: PATH, claims: null, headers: [["cookie", "a=b"]] },
      false,
    ],
  ];
  for (const [name, world, steady] of cases) {
    it(`reads ${name}: ${steady ? "yes" : "no"}`, async () => {
      const found = await decide(world);
      assert.match(outcome(found.decision), /^ALLOW /);
      assert.equal(found.steady, steady);
    });
  }

  it("a token of a first message that identifies nobody may come to mean something", async () => {
    const { decision } = await decide({ set: PATH, claims: null });
    assert.ok(decision.verdict === "ALLOW");
    const by = { policies: { main: snapshotOf(PATH), customers: new Map() }, state: undefined };
    const access = accessOf({ path: "/feed" });
    assert.equal(isSteady({ ...access, ofConnection: { kind: "none" } }, decision, by), true);
    assert.equal(isSteady({ ...access, ofConnection: { kind: "foreign" } }, decision, by), false);
  });

  it("a change of customers and users concerns their connections", () => {
    const of = (userId: string, customer?: string, subject?: string) => ({
      identity: {
        user: {},
        ...(customer !== undefined && { customer: { id: customer } }),
        userId,
        session: { amr: [], ...(subject !== undefined && { subject }) },
        expiresAt: 0,
      } satisfies Identity,
    });
    const concerned = belongsTo({ customers: ["c-1"], users: ["u-1", "s-2"] });
    const found = [of("u-1"), of("u-2"), of("u-2", "c-1"), of("u-2", "c-2"), of("e-2", "c-2", "s-2"), {}].map(
      concerned,
    );
    assert.deepEqual(found, [true, false, true, false, true, false]);
  });
});
