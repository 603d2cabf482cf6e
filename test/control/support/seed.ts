import assert from "node:assert/strict";
import { newId } from "../../../src/control/platform/ids.ts";
import { insertSession } from "../../../src/control/resources/sessions/store.ts";
import { OPERATOR, send } from "../../support/guarded-control.ts";
import type { WholeControl } from "../../support/whole-control.ts";
import { decisionRecord, outcomeRecord } from "./gateway-records.ts";
import { setOf } from "./policy-files.ts";

/** One of each resource, of one customer. */
export interface Seeded {
  readonly customer: string;
  readonly user: string;
  readonly policy: string;
  readonly webhook: string;
  readonly delivery: string;
  readonly session: string;
  readonly policySet: string;
}

/** Fills an environment as its users would, by the API: one customer with everything that can belong to one. */
export async function seed(
  control: WholeControl,
  name: string,
  headers: Readonly<Record<string, string>>,
): Promise<Seeded> {
  const make = async (path: string, body?: object) => {
    const answer = await send(control, "POST", path, headers, body);
    assert.ok(answer.status < 300, `POST ${path}: ${answer.text}`);
    return answer.body.data;
  };
  const policySet = `set-${name.toLowerCase()}`;
  await make("/policy-sets", { name: policySet, files: setOf("v1") });
  const { id: customer } = await make("/customers", {
    name,
    allowed_return_urls: [`https://${name.toLowerCase()}.example.com/back`],
    metadata: { plan: `plan of ${name}` },
  });
  await make(`/customers/${customer}/idp`, {
    type: "oidc",
    domain: `idp.${name.toLowerCase()}.example.com`,
    client_id: `client of ${name}`,
    client_secret: `secret of ${name}`,
    verify: false,
  });
  const { id: user } = await make(`/customers/${customer}/users`, {
    subject: `subject of ${name}`,
    email: `person@${name.toLowerCase()}.example.com`,
    attributes: { role: "admin" },
  });
  const { id: policy } = await make("/policies", {
    name: `policy of ${name}`,
    type: "authentication",
    conditions: { mfa_required: true },
  });
  await make(`/customers/${customer}/policies`, { policy_ids: [policy] });
  const { id: webhook } = await make("/webhooks", {
    // nobody listens: deliveries stay
    url: "http://127.0.0.1:9/",
    events: ["customer.updated"],
    customer_id: customer,
    description: `webhook of ${name}`,
  });
  const { id: delivery } = await make(`/webhooks/${webhook}/test`);
  const decision = decisionRecord({
    timestamp: new Date(control.context.clock()).toISOString(),
    customer_id: customer,
    user_id: user,
  });
  const outcome = outcomeRecord({
    timestamp: decision.timestamp,
    decision_id: decision.decision_id,
  });
  await make("/gateway/records", { records: [decision, outcome] });
  const session = await makeSession(control, customer, user);
  return { customer, user, policy, webhook, delivery, session, policySet };
}

/** Puts a session there as a sign-in leaves it; the walk through a provider is other tests' matter. */
async function makeSession({ context }: WholeControl, customerId: string, userId: string): Promise<string> {
  const id = newId("session");
  const now = new Date(context.clock());
  const later = new Date(now.getTime() + 3_600_000);
  await context.units(OPERATOR, ({ trx }) =>
    insertSession(trx, {
      id,
      customer_id: customerId,
      user_id: userId,
      client_id: newId("apiKey"),
      end_session_url: null,
      id_token: null,
      scope: "openid",
      auth_time: now,
      amr: ["pwd"],
      acr: null,
      ip_address: "192.0.2.7",
      user_agent: "test",
      created_at: now,
      last_used_at: now,
      expires_at: later,
      alive_until: later,
    }),
  );
  return id;
}
