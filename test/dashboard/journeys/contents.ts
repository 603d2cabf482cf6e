import assert from "node:assert/strict";
import type { HostileProvider } from "../../support/providers/hostile-provider.ts";
import { createBrowser } from "../../support/sign-in.ts";
import { makeKey } from "../../support/guarded-control.ts";
import type { WebhookReceiver } from "../../support/webhook-receiver.ts";
import { eventually } from "../../support/eventually.ts";
import type { HostileTexts } from "./hostile.ts";
import type { Journey } from "./journey.ts";

const RETURN_URL = "https://app.example.com/signed-in";
type Created = Readonly<Record<string, string>>;

/** Something on every page of production, through the API, whose every text is markup. */
export async function fillProduction(
  { bench, api, belongings }: Journey,
  texts: HostileTexts,
  { receiver, provider }: { readonly receiver: WebhookReceiver; readonly provider: HostileProvider },
): Promise<void> {
  const ask = asking(api);
  const { id: customer = "" } = await ask("POST", "/customers", {
    ...{ name: texts.text("customer name"), external_id: texts.word("external-id") },
    ...{ allowed_roles: [texts.text("allowed role")], metadata: { note: texts.text("metadata") } },
    ...{
      allowed_permissions: [texts.text("allowed permission")],
      allowed_groups: [texts.text("allowed group")],
    },
    role_mapping: { [texts.text("mapped group")]: [texts.text("mapped role")] },
    allowed_return_urls: [RETURN_URL],
  });
  belongings.customer = customer;
  await ask("POST", `/customers/${customer}/idp`, {
    ...{ type: "oidc", domain: provider.issuer, client_id: texts.text("client id"), client_secret: "secret" },
    ...{ verify: false, claims: { role: texts.text("claim of the role") } },
  });
  await refusedSignIn({ ask, customer, provider, texts });
  await ask("POST", `/customers/${customer}/users`, {
    ...{ subject: texts.text("subject"), name: texts.text("user name") },
    attributes: { note: texts.text("attribute") },
  });
  const session = await bench().session(customer, texts.text("user agent"));
  const { db } = bench().control.context;
  // providers call people as they like
  const { user_id } = await db("sessions").where({ id: session }).first<{ user_id: string }>("user_id");
  await db("users")
    .where({ id: user_id })
    .update({ email: `${texts.word("e-mail")}@example.com`, name: texts.text("name at the provider") });
  const policy = await ask("POST", "/policies", {
    ...{ name: texts.text("policy name"), description: texts.text("policy description") },
    ...{ type: "authentication", conditions: { mfa_required: true } },
  });
  await ask("POST", `/customers/${customer}/policies`, { policy_ids: [policy["id"]] });
  await ask("POST", "/api-keys", { name: texts.text("key name"), scope: "read_only", customer_id: customer });
  await ask("POST", "/dashboard/users", {
    ...{ email: "invited@example.com", name: texts.text("invited person"), role: "viewer" },
  });
  await fillWebhook({ ask, customer, receiver, texts });
  const { secret } = await makeKey(bench().control, { name: "edge", scope: "gateway" });
  await bench().decide(secret, [
    {
      ...{ decision: "DENY", reason: "NO_MATCHING_RULE", rule: null, customer_id: customer },
      ...{ resource: `/${texts.text("path")}`, action: texts.word("METHOD"), host: texts.text("host") },
      ...{ user_id: texts.text("user id"), request_id: texts.word("request-id") },
    },
    {
      ...{ rule: texts.text("rule"), rule_resource: `GET /${texts.word("pattern")}`, customer_id: customer },
      ...{ policy_set: texts.text("policy set"), client_ip: texts.word("address"), user_id },
    },
  ]);
  const at = new Date().toISOString();
  const registered = await bench().control.request("POST", "/gateway/registration", {
    headers: { authorization: `Bearer ${secret}`, "x-gatehouse-gateway": "edge-1" },
    body: {
      ...{ id: texts.word("gateway-id"), kind: "gateway", address: texts.text("gateway address") },
      version: texts.word("gateway-version"),
      policies: {
        ...{ source: "directory", set: texts.text("set of a gateway") },
        ...{ version: texts.text("version of a gateway"), digest: "0".repeat(64) },
      },
      ...{ rollout: null, workers: { expected: 2, ready: 2 }, started_at: at, sent_at: at },
      ...{ interval_ms: 60_000, leaving: false },
    },
  });
  assert.equal(registered.status, 200, registered.text);
  // older releases had other rules for it
  await db("gateways").update({ name: texts.text("gateway name") });
}

export function asking(api: Journey["api"]) {
  return async (method: string, path: string, body?: object): Promise<Created> => {
    const answer = await api(method, path, body);
    assert.ok(answer.status < 300, `${path}: ${answer.text}`);
    return answer.body.data as Created;
  };
}

interface SignInParts {
  readonly ask: ReturnType<typeof asking>;
  readonly customer: string;
  readonly provider: HostileProvider;
  readonly texts: HostileTexts;
}

/** A sign-in that the customer's provider refuses, with markup for a reason. */
async function refusedSignIn({ ask, customer, provider, texts }: SignInParts): Promise<void> {
  const description = texts.text("error of a provider");
  provider.behave({
    answer: (honest) => {
      const refused = new URLSearchParams({ error: "access_denied", error_description: description });
      for (const name of ["state", "iss"]) refused.set(name, honest.get(name) ?? "");
      return refused;
    },
  });
  const { authorization_url: url = "" } = await ask("POST", "/auth/authorize", {
    ...{ customer_id: customer, return_url: RETURN_URL },
  });
  const arrived = await createBrowser().walk(url, { until: RETURN_URL });
  assert.equal(arrived.kind, "sent");
}

interface WebhookParts {
  readonly ask: ReturnType<typeof asking>;
  readonly customer: string;
  readonly receiver: WebhookReceiver;
  readonly texts: HostileTexts;
}

/** A webhook whose receiver answers with markup, and of which somebody has been told. */
async function fillWebhook({ ask, customer, receiver, texts }: WebhookParts): Promise<void> {
  const answer = texts.text("answer of a receiver");
  receiver.answer = (response) => {
    response.writeHead(500, { "content-type": "text/html" }).end(answer);
  };
  const { id = "" } = await ask("POST", "/webhooks", {
    url: `${receiver.url}/?${texts.word("webhook-url")}`,
    ...{ events: ["*"], description: texts.text("webhook description") },
  });
  await ask("POST", `/webhooks/${id}/test`, {});
  await ask("PUT", `/customers/${customer}`, {
    metadata: { changed: texts.text("metadata after a change") },
  });
  await eventually("what the receiver answered", async () => {
    const deliveries = (await ask("GET", `/webhooks/${id}/deliveries`)) as unknown as { attempts: number }[];
    return deliveries.length > 0 && deliveries.every(({ attempts }) => attempts > 0);
  });
}
