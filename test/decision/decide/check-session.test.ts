import assert from "node:assert/strict";
import type { JWTPayload } from "jose";
import type { KnownState } from "../../../src/decision/decide/check-session.ts";
import { renderDenial } from "../../../src/decision/denial/denial.ts";
import type { Snapshot } from "../../../src/decision/policies/snapshot.ts";
import type { AuthenticationRules, CustomerState } from "../../../src/customer-state/index.ts";
import { accessOf, bearer, deciderOf, outcome, snapshotOf, useIssuer } from "../support.ts";

const POLICIES = `
policies:
  - { resource: "GET /x", condition: exists(user.id) }
  - { resource: "GET /public", condition: "true" }
  - { resource: "GET /answers", condition: "true" }
response_masks:
  - { api_pattern: "/answers", fields: [{ name: ssn, condition: "true", mask_type: full }] }
`;

const NO_RULES: AuthenticationRules = {
  mfa_required: false,
  allowed_email_domains: [],
  allowed_ip_ranges: [],
};

const standing = (parts: Partial<CustomerState> = {}): CustomerState => ({
  id: "cus_1",
  status: "active",
  authentication: NO_RULES,
  policy_sets: [],
  ...parts,
});

describe("decision: the state of the caller's session and customer", () => {
  const idp = useIssuer();

  interface World {
    readonly customer?: CustomerState;
    readonly ended?: readonly string[];
    readonly users?: Readonly<Record<string, "suspended" | "deleted">>;
    readonly claims?: JWTPayload;
    readonly path?: string;
    readonly cookie?: boolean;
    readonly unknown?: boolean;
    readonly sets?: Readonly<Record<string, Snapshot>>;
    readonly set?: string;
    readonly headers?: readonly (readonly [string, string])[];
  }

  const decide = async (world: World) => {
    const { customer, ended = [], users = {}, claims = {}, path = "/x", sets = {}, headers = [] } = world;
    const standings: KnownState = {
      customer: (id) => (id === customer?.id ? customer : undefined),
      sessionEnded: (id) => ended.includes(id),
      userStatus: (id) => users[id] ?? "active",
    };
    const token = await idp.token({
      customer_id: "cus_1",
      sid: "ses_1",
      email: "iris@corp.example",
      amr: ["pwd"],
      auth_time: Math.floor(Date.now() / 1000) - 100,
      ...claims,
    });
    const decide = deciderOf(snapshotOf(world.set ?? POLICIES), {
      verifier: idp.verifier,
      cookie: "session",
      controlPlane: {
        state: () => (world.unknown === true ? undefined : standings),
      },
      sets,
    });
    const credentials = world.cookie === true ? (["cookie", `session=${token}`] as const) : bearer(token);
    return decide(accessOf({ path, headers: [credentials, ...headers], peer: "10.1.2.3" }));
  };

  const rules = (authentication: Partial<AuthenticationRules>) =>
    standing({ authentication: { ...NO_RULES, ...authentication } });

  const MACHINE = {
    sub: "cli_1",
    client_id: "cli_1",
    principal_type: "machine",
    sid: "cls_1",
    ...{ email: undefined, amr: [], auth_time: undefined },
  };
  const OF_PEOPLE = { mfa_required: true, max_session_duration: 60, allowed_email_domains: [["x.example"]] };

  const cases: [name: string, world: World, expected: string][] = [
    [
      "a machine, of which no sign-in is asked",
      { customer: rules(OF_PEOPLE), claims: MACHINE },
      "ALLOW CONDITION_TRUE",
    ],
    ["a machine whose client is deleted", { ended: ["cls_1"], claims: MACHINE }, "DENY SESSION_ENDED"],
    [
      "a machine of a suspended customer",
      { customer: standing({ status: "suspended" }), claims: MACHINE },
      "DENY CUSTOMER_SUSPENDED",
    ],
    [
      "a machine at another address",
      { customer: rules({ allowed_ip_ranges: [["192.0.2.0/24"]] }), claims: MACHINE },
      "DENY CLIENT_ADDRESS_NOT_ALLOWED",
    ],
    [
      "a user whose token only says that it is a machine's",
      { customer: rules(OF_PEOPLE), claims: { ...MACHINE, client_id: "key_1" } },
      "DENY EMAIL_DOMAIN_NOT_ALLOWED",
    ],
    [
      "a machine, by what policies read",
      {
        set: 'policies: [{ resource: "GET /x", condition: user.type == "machine" }]',
        claims: MACHINE,
      },
      "ALLOW CONDITION_TRUE",
    ],
    [
      "a user, by what policies read",
      {
        set: 'policies: [{ resource: "GET /x", condition: user.type == "machine" }]',
        claims: { principal_type: "user" },
      },
      "DENY CONDITION_FALSE",
    ],
    ["an ordinary customer", {}, "ALLOW CONDITION_TRUE"],
    ["an active customer", { customer: standing() }, "ALLOW CONDITION_TRUE"],
    ["a suspended customer", { customer: standing({ status: "suspended" }) }, "DENY CUSTOMER_SUSPENDED"],
    ["an archived customer", { customer: standing({ status: "archived" }) }, "DENY CUSTOMER_SUSPENDED"],
    ["a deleted customer", { customer: standing({ status: "deleted" }) }, "DENY CUSTOMER_SUSPENDED"],
    ["a session that has ended", { ended: ["ses_1"] }, "DENY SESSION_ENDED"],
    ["another session that has ended", { ended: ["ses_2"] }, "ALLOW CONDITION_TRUE"],
    ["a suspended user", { users: { "u-1": "suspended" } }, "DENY USER_SUSPENDED"],
    ["a deleted user", { users: { "u-1": "deleted" } }, "DENY USER_SUSPENDED"],
    ["nothing known yet", { unknown: true }, "DENY CUSTOMER_STATE_NOT_READY"],
    ["no evidence of a second factor", { customer: rules({ mfa_required: true }) }, "DENY MFA_REQUIRED"],
    [
      "amr that is no list",
      { customer: rules({ mfa_required: true }), claims: { amr: "mfa" } },
      "DENY MFA_REQUIRED",
    ],
    [
      "a second factor",
      { customer: rules({ mfa_required: true }), claims: { amr: ["pwd", "otp"] } },
      "ALLOW CONDITION_TRUE",
    ],
    [
      "a class that counts as several factors",
      { customer: rules({ mfa_required: true, mfa_acr_values: ["urn:2fa"] }), claims: { acr: "urn:2fa" } },
      "ALLOW CONDITION_TRUE",
    ],
    [
      "a class that does not",
      { customer: rules({ mfa_required: true, mfa_acr_values: ["urn:2fa"] }), claims: { acr: "urn:1fa" } },
      "DENY MFA_REQUIRED",
    ],
    [
      "a list of classes, which is none",
      { customer: rules({ mfa_required: true, mfa_acr_values: ["urn:2fa"] }), claims: { acr: ["urn:2fa"] } },
      "DENY MFA_REQUIRED",
    ],
    ["a session that is too old", { customer: rules({ max_session_duration: 60 }) }, "DENY SESSION_TOO_OLD"],
    [
      "a session of unknown age",
      { customer: rules({ max_session_duration: 600 }), claims: { auth_time: "x" } },
      "DENY SESSION_TOO_OLD",
    ],
    ["a session that is young", { customer: rules({ max_session_duration: 600 }) }, "ALLOW CONDITION_TRUE"],
    [
      "another mail domain",
      { customer: rules({ allowed_email_domains: [["else.example"]] }) },
      "DENY EMAIL_DOMAIN_NOT_ALLOWED",
    ],
    [
      "the mail domain of one policy, not of the other",
      { customer: rules({ allowed_email_domains: [["corp.example"], ["else.example"]] }) },
      "DENY EMAIL_DOMAIN_NOT_ALLOWED",
    ],
    [
      "another address",
      { customer: rules({ allowed_ip_ranges: [["192.168.0.0/16"]] }) },
      "DENY CLIENT_ADDRESS_NOT_ALLOWED",
    ],
    [
      "an address in range",
      { customer: rules({ allowed_ip_ranges: [["10.0.0.0/8"]] }) },
      "ALLOW CONDITION_TRUE",
    ],
    [
      "a suspended customer, on a page for everybody",
      { customer: standing({ status: "suspended" }), path: "/public" },
      "DENY CUSTOMER_SUSPENDED",
    ],
    [
      "a suspended customer's cookie, on a page for everybody",
      { customer: standing({ status: "suspended" }), path: "/public", cookie: true },
      "ALLOW CONDITION_TRUE",
    ],
    [
      "a suspended customer's cookie, where a rule asks who it is",
      { customer: standing({ status: "suspended" }), cookie: true },
      "DENY CUSTOMER_SUSPENDED",
    ],
  ];
  for (const [name, world, expected] of cases) {
    it(`${name}: ${expected}`, async () => {
      assert.equal(outcome(await decide(world)), expected);
    });
  }

  it("keeps in a denial who it was, for the record", async () => {
    const decision = await decide({ ended: ["ses_1"] });
    assert.equal(decision.identity?.userId, "u-1");
    assert.equal(decision.detail, "session ses_1");
  });

  it("tells a client how to get on, as RFC 9470 and RFC 6750 have it", async () => {
    const challenge = async (world: World) => {
      const { reason, stepUp } = await decide(world);
      const about = { requestId: "r", method: "GET", resource: "/x", headers: undefined, now: 0 };
      const { headers } = renderDenial({ reason, ...about, details: "reason", ...(stepUp && { stepUp }) });
      return headers.find(([header]) => header === "www-authenticate")?.[1];
    };
    assert.match(
      (await challenge({ customer: rules({ mfa_required: true }) })) ?? "",
      /error="insufficient_user_authentication"/,
    );
    const asking = rules({
      mfa_required: true,
      mfa_acr_values: ["urn:a", "urn:b"],
      max_session_duration: 60,
    });
    for (const cookie of [false, true])
      assert.match(
        (await challenge({ customer: asking, cookie })) ?? "",
        /error="insufficient_user_authentication", .*, acr_values="urn:a urn:b", max_age="60"$/,
      );
    // what the rules ask of a sign-in is no answer to other refusals
    const elsewhere = { ...asking.authentication, allowed_ip_ranges: [["192.168.0.0/16"]] };
    assert.equal(await challenge({ customer: rules(elsewhere) }), undefined);
    assert.match((await challenge({ ended: ["ses_1"], customer: asking })) ?? "", /error="invalid_token"/);
  });

  describe("a policy set of the customer's own", () => {
    const own = standing({ policy_sets: ["own"] });
    const set = (text: string) => ({ own: snapshotOf(text) });

    it("must permit, too", async () => {
      const permits = set(`policies:\n  - { resource: "GET /x", condition: user.id == "u-1" }\n`);
      assert.equal(outcome(await decide({ customer: own, sets: permits })), "ALLOW CONDITION_TRUE");
      const denies = set(
        `policy_set: own\npolicies:\n  - { resource: "GET /x", condition: user.id == "u-2" }\n`,
      );
      const denied = await decide({ customer: own, sets: denies });
      assert.equal(outcome(denied), "DENY CONDITION_FALSE");
      assert.equal(denied.customerPolicySet, "own@v0");
      assert.equal(denied.snapshot?.label, "own@v0");
      const silent = set(`policies:\n  - { resource: "GET /y", condition: "true" }\n`);
      assert.equal(outcome(await decide({ customer: own, sets: silent })), "DENY NO_MATCHING_RULE");
    });

    it("cannot permit what the gateway's own set denies", async () => {
      const generous = set(`default: allow\npolicies: []\n`);
      assert.equal(
        outcome(await decide({ customer: own, sets: generous, path: "/none" })),
        "DENY NO_MATCHING_RULE",
      );
    });

    it("denies all where it is not loaded", async () => {
      const decision = await decide({ customer: own });
      assert.equal(outcome(decision), "DENY POLICY_NOT_READY");
      assert.match(decision.detail ?? "", /`own`/);
    });

    it("does not concern other customers", async () => {
      assert.equal(
        outcome(await decide({ customer: own, claims: { customer_id: "cus_2" } })),
        "ALLOW CONDITION_TRUE",
      );
    });

    it("masks what it masks besides what the gateway's own set masks", async () => {
      const masks = set(
        `policies:\n  - { resource: "GET /answers", condition: "true" }\nresponse_masks:\n  - { api_pattern: "/answers", fields: [{ name: email, condition: "true", mask_type: full }] }\n`,
      );
      const decision = await decide({ customer: own, sets: masks, path: "/answers" });
      const fields = decision.plan?.response?.fields.map(({ keys }) => keys.join("."));
      assert.deepEqual(fields, ["ssn", "email"]);
    });

    it("lets through only messages that both permit", async () => {
      const sockets = (types: string) =>
        `websocket_policies:\n  - connection: { condition: "true" }\n    message_types:\n${types}`;
      const both = sockets(
        `      - { type: ping, condition: "true" }\n      - { type: order, condition: message.id == 1 }\n      - { type: mine, condition: "true" }\n`,
      );
      const theirs = set(
        sockets(
          `      - { type: ping, condition: message.n == 1 }\n      - { type: order, condition: "false", on_deny: close }\n      - { type: other, condition: "true" }\n`,
        ),
      );
      const decision = await decide({
        customer: own,
        set: both,
        sets: theirs,
        headers: [
          ["upgrade", "websocket"],
          ["connection", "Upgrade"],
        ],
      });
      assert.equal(decision.verdict, "ALLOW");
      const send = decision.plan?.websocket?.send ?? {};
      assert.deepEqual(Object.keys(send), ["ping", "order"]);
      assert.equal(send["order"]?.when, false);
      assert.equal(send["order"].onDeny, "close");
      assert.notEqual(send["ping"]?.when, undefined);
    });

    it("is not asked again where it is the gateway's own", async () => {
      const text = `graphql_policies:\n  - { subscription: ticks, condition: "true" }\n`;
      const decision = await decide({
        customer: own,
        set: text,
        sets: set(text),
        path: "/graphql",
        headers: [
          ["upgrade", "websocket"],
          ["connection", "Upgrade"],
        ],
      });
      assert.equal(decision.verdict, "ALLOW");
    });

    it("does not share the operations of a GraphQL connection with another set", async () => {
      const text = `graphql_policies:\n  - { subscription: ticks, condition: "true" }\n`;
      const decision = await decide({
        customer: own,
        set: text,
        sets: set(`${text}  - { subscription: other, condition: "true" }\n`),
        path: "/graphql",
        headers: [
          ["upgrade", "websocket"],
          ["connection", "Upgrade"],
        ],
      });
      assert.equal(outcome(decision), "DENY POLICY_SETS_CONFLICT");
    });
  });
});
