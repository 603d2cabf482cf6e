import assert from "node:assert/strict";
import type { KnownState } from "../../../src/decision/decide/check-session.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import { accessOf, bearer, deciderOf, outcome, snapshotOf, verifierFor } from "../support.ts";

const OPERATIONS =
  "graphql_policies:\n  - { query: me, condition: true }\n  - { query: salary, condition: true }\n";
const masks = (name: string, condition = "true") =>
  `response_masks:\n  - { api_pattern: /graphql, fields: [{ name: ${name}, condition: '${condition}', mask_type: full }] }\n`;
const filters = (field: string) =>
  `response_filters:\n  - { endpoint: /graphql, filter_rules: [{ field: ${field}, condition: item.owner != "x", action: remove }] }\n`;
const PATH = "policies:\n  - { resource: '* /graphql', condition: true }\n";

describe("decision: names that another policy set guards", () => {
  let issuer: TestIssuer;
  let verifier: ReturnType<typeof verifierFor>;
  before(async () => {
    issuer = await startIssuer();
    verifier = verifierFor(issuer);
    await verifier.start();
  });
  after(async () => {
    verifier.close();
    await issuer.close();
  });

  /** @param own - the customer's own policy sets */
  const decide = async (set: string, own: readonly string[], query: string | undefined) => {
    const names = own.map((_, index) => `own-${index}`);
    const standings: KnownState = {
      customer: (id) => ({
        id,
        status: "active",
        authentication: { mfa_required: false, allowed_email_domains: [], allowed_ip_ranges: [] },
        policy_sets: names,
      }),
      sessionEnded: () => false,
      userStatus: () => "active",
    };
    const sets = own.map((text) => snapshotOf(text));
    const decider = deciderOf(snapshotOf(set), {
      verifier,
      sets: Object.fromEntries(names.map((name, index) => [name, sets[index]])),
      controlPlane: { state: () => standings },
    });
    const token = bearer(await issuer.token({ customer_id: "cus_1" }));
    if (query === undefined)
      return decider(
        accessOf({ path: "/graphql", headers: [["connection", "upgrade"], ["upgrade", "websocket"], token] }),
      );
    const body = JSON.stringify({ query });
    const headers = [
      ["content-type", "application/json"],
      ["content-length", String(body.length)],
      token,
    ] as const;
    return decider(accessOf({ method: "POST", path: "/graphql", headers, body }));
  };

  const worlds: Readonly<Record<string, readonly [gateway: string, own: readonly string[]]>> = {
    "the gateway's own": [OPERATIONS + masks("ssn"), [PATH]],
    "the customer's mask": [OPERATIONS, [PATH + masks("ssn")]],
    "the customer's second set": [OPERATIONS, [PATH, PATH + masks("ssn")]],
    "the customer's filter": [OPERATIONS, [PATH + filters("ssn")]],
    "the gateway's mask, where the customer's set evaluates operations": [PATH + masks("ssn"), [OPERATIONS]],
    "a mask of one of two that evaluate operations": [
      OPERATIONS,
      [`version: v2\n${OPERATIONS}${masks("ssn")}`],
    ],
  };
  for (const [name, [gateway, own]] of Object.entries(worlds)) {
    it(`are neither given nor taken by an alias: ${name}`, async () => {
      assert.equal((await decide(gateway, own, "{ me { ssn } }")).verdict, "ALLOW");
      assert.equal((await decide(gateway, own, "{ me { id: name } }")).verdict, "ALLOW");
      for (const query of [
        "{ me { x: ssn } }",
        "{ me { ssn: id } }",
        "{ ssn: me { id } }",
        "{ ...F } fragment F on Query { me { x: ssn } }",
      ])
        assert.equal(outcome(await decide(gateway, own, query)), "DENY GRAPHQL_DENIED", query);
    });
  }

  it("are what its conditions read, too, and the whole path", async () => {
    const own = [PATH + filters("card.number")];
    for (const query of [
      "{ me { c: card { number } } }",
      "{ me { card { n: number } } }",
      "{ me { o: owner } }",
    ])
      assert.equal(outcome(await decide(OPERATIONS, own, query)), "DENY GRAPHQL_DENIED", query);
  });

  it("are free where the rule does not apply to the caller, or to the endpoint", async () => {
    const elsewhere = masks("ssn").replace("/graphql", "/other");
    for (const own of [PATH + masks("ssn", 'user.customer_id == "cus_2"'), PATH + elsewhere])
      assert.equal((await decide(OPERATIONS, [own], "{ me { x: ssn } }")).verdict, "ALLOW", own);
  });

  it("go along with a connection, in the plan of the set that evaluates its operations", async () => {
    for (const [gateway, own] of [
      [OPERATIONS, [PATH + masks("ssn"), PATH + filters("tax_id")]],
      [PATH + masks("ssn"), [OPERATIONS, PATH + filters("tax_id")]],
    ] as const) {
      const { plan, verdict } = await decide(gateway, own, undefined);
      assert.equal(verdict, "ALLOW");
      assert.deepEqual(plan?.websocket?.graphql?.guardedNames, ["owner", "ssn", "tax_id"]);
      assert.equal(plan.websocket.plain, false);
    }
  });
});
