import assert from "node:assert/strict";
import { joinPlans } from "../../../src/decision/decide/join-plans.ts";
import { IR_VERSION } from "../../../src/policy/ir.ts";
import type { PlanIR } from "../../../src/policy/index.ts";
import type { CustomerState } from "../../../src/customer-state/index.ts";
import { gatewayPlanOf } from "../../../src/decision/decide/both-permit.ts";
import type { Snapshot } from "../../../src/decision/policies/snapshot.ts";
import { compareDecisions } from "../../../src/decision/shadow/compare-decisions.ts";
import type { Decision } from "../../../src/decision/types.ts";
import { accessOf, bearer, deciderOf, snapshotOf, useIssuer } from "../support.ts";

const OWNER: CustomerState = {
  id: "cus_1",
  status: "active",
  authentication: { mfa_required: false, allowed_email_domains: [], allowed_ip_ranges: [] },
  policy_sets: ["own", "second"],
};
const masking = (...fields: readonly string[]) =>
  snapshotOf(`policies:
  - { resource: "GET /x", condition: "true" }
${
  fields.length === 0
    ? ""
    : `response_masks:
  - api_pattern: /x
    fields: [${fields.map((name) => `{ name: ${name}, condition: "true", mask_type: full }`).join(", ")}]
`
}`);
const sockets = (condition: string) =>
  snapshotOf(`websocket_policies:
  - connection: { path: /x, condition: "true" }
    message_types: [{ type: chat, condition: ${condition} }, { type: no, condition: false }]
`);

describe("decision: a customer's own sets beside the gateway's", () => {
  const idp = useIssuer();

  async function decide(
    set: Snapshot,
    sets: Readonly<Record<string, Snapshot>>,
    headers: readonly (readonly [string, string])[] = [],
  ): Promise<Decision> {
    const token = await idp.token({ customer_id: "cus_1" });
    const customer = Object.keys(sets).length === 0 ? { ...OWNER, policy_sets: [] } : OWNER;
    const state = {
      customer: () => customer,
      sessionEnded: () => false,
      userStatus: () => "active" as const,
    };
    const decider = deciderOf(set, { verifier: idp.verifier, controlPlane: { state: () => state }, sets });
    return decider(accessOf({ headers: [bearer(token), ...headers] }));
  }
  /** How a candidate differs, for a caller with these sets of the customer's own. */
  async function difference(stable: Snapshot, candidate: Snapshot, own: Readonly<Record<string, Snapshot>>) {
    const decision = await decide(stable, own);
    assert.equal(decision.verdict, "ALLOW");
    const task = {
      ...{ access: accessOf(), found: {}, checked: {} },
      stable: {
        ...{ verdict: decision.verdict, reason: decision.reason, rule: null, plan: gatewayPlanOf(decision) },
        ...{ isJoined: decision.gatewayPlan !== undefined, label: "stable", digest: "1" },
      },
    };
    const other = await decide(candidate, {});
    return compareDecisions(task, other, { file: "unused", label: "candidate", digest: "2" })?.difference;
  }

  it("a candidate that masks less differs, whatever these mask", async () => {
    const own = { own: masking("email"), second: masking("phone", "ssn") };
    assert.equal(await difference(masking("ssn"), masking(), own), "plan");
    assert.equal(await difference(masking(), masking("ssn"), own), "plan");
    assert.equal(await difference(masking("ssn"), masking("ssn"), own), undefined);
    assert.equal(await difference(masking(), masking(), own), undefined);
  });

  it("denied messages name the set of the rule, and both where either may have denied", async () => {
    const upgrade = [
      ["upgrade", "websocket"],
      ["connection", "Upgrade"],
    ] as const;
    const rulesOf = async (gateways: string, theirs: string) => {
      const { plan } = await decide(
        sockets(gateways),
        { own: sockets(theirs), second: sockets("true") },
        upgrade,
      );
      return Object.values(plan?.websocket?.send ?? {}).map(({ rule }) => rule);
    };
    const [first, second] = [0, 1].map((index) => `websocket_policies[0].message_types[${index}]`);
    assert.deepEqual(await rulesOf("message.n == 1", "true"), [first, second]);
    assert.deepEqual(await rulesOf("true", "message.n == 1"), [`own: ${first}`, second]);
    assert.deepEqual(await rulesOf("message.n == 2", "message.n == 1"), [`${first}, own: ${first}`, second]);
    assert.deepEqual(await rulesOf("message.n == 2", "false"), [`own: ${first}`, second]);
    // each once, and no more than three
    const [plan, ...others] = ["a", "b", "c", "d"].map((rule) => ({
      ir: IR_VERSION,
      websocket: {
        ...{ environment: "test", plain: false, limit: 100 },
        send: { chat: { rule, when: { op: "attribute", path: ["message", "n"] }, onDeny: "drop" } },
      },
    })) as PlanIR[];
    const ruleOf = (joined: PlanIR | undefined) => joined?.websocket?.send?.["chat"]?.rule;
    assert.equal(ruleOf(joinPlans(joinPlans(plan, others[0]), joinPlans(plan, others[0]))), "a, b");
    assert.equal(ruleOf(others.reduce((sofar, other) => joinPlans(sofar, other)!, plan!)), "a, b, c, ...");
  });
});
