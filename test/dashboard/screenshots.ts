import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { buildDashboard } from "../../dashboard/build.ts";
import { EMPTY_EXAMPLE } from "../../dashboard/src/core/explain-protocol.ts";
import { fragmentOf } from "../../dashboard/src/explain/link.ts";
import { startBrowser } from "../clients/support/browser.ts";
import { eventually } from "../support/eventually.ts";
import { makeKey, newSetupLink } from "../support/guarded-control.ts";
import { DashboardBench } from "./support.ts";

const FOLDER = process.env["SCREENSHOTS"] ?? "dashboard/screenshots";
const SIZES = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } } as const;
const THEMES = ["light", "dark"] as const;
const POLICIES = `policies:
  - { name: Own department, resource: "GET /departments/{name}", condition: 'user.department == path.name and user.role == "viewer"' }
  - { resource: "GET /departments/{name}/people", condition: user.role == "admin" }
`;
const EXAMPLE = `/explain#${fragmentOf({
  set: { kind: "pasted", text: POLICIES },
  example: {
    ...EMPTY_EXAMPLE,
    line: "GET /departments/sales",
    user: JSON.stringify({ id: "u-1", department: "finance", role: "viewer" }),
  },
})}`;
const REASONS = ["CONDITION_FALSE", "NO_MATCHING_RULE", "IDENTITY_REQUIRED"];

/** `make screenshots`: not a test, but pictures to look at. */
describe("pictures of the dashboard", () => {
  let bench: DashboardBench;
  let browser: Browser;
  before(async () => {
    mkdirSync(FOLDER, { recursive: true });
    await buildDashboard();
    browser = await startBrowser();
    bench = await DashboardBench.start(browser, "production");
  });
  after(async () => {
    await bench.close();
    await browser.close();
  });

  it("are taken of every page", async () => {
    const setup = await newSetupLink(bench.control);
    await picture(await bench.open(setup), setup, "setup");
    const owner = await bench.owner();
    const signIn = await bench.open("/");
    await picture(signIn, "/", "sign-in");
    await bench.signIn(signIn, owner.email);
    await picture(signIn, "/", "first-steps");
    for (const path of ["/customers", "/gateways", "/webhooks"])
      await picture(signIn, path, `empty-${path.slice(1)}`);
    const customer = await fill(bench, owner.headers);
    for (const path of ["/?range=1h", "/customers", "/sessions", "/keys", "/audit", "/gateways", "/webhooks"])
      await picture(signIn, path, /\w+/.exec(path.replace("range", "overview"))?.[0] ?? path);
    for (const tab of ["details", "provider", "users", "sessions", "policies", "activity"])
      await picture(signIn, `/customers/${customer}?tab=${tab}`, `customer-${tab}`);
    const policy = await bench.control.context.db("policies").first<{ id: string }>("id");
    const many = await bench.control.request("POST", `/policies/${policy.id}/assignments`, {
      headers: owner.headers,
      body: { action: "preview", customers: { all: true } },
    });
    for (const [path, name] of [
      ["/policies", "policies"],
      [`/policies/${policy.id}`, "policy"],
      [`/policies/${policy.id}?tab=many&job=${String(many.body.data.id)}`, "policy-many"],
      ["/policy-sets", "policy-sets"],
      ["/policy-sets/shown", "policy-set"],
      ["/policy-sets/shown?tab=edit&from=v2&compare=1", "policy-set-edit"],
      ["/policy-sets/shown?tab=rollout", "policy-set-rollout"],
      ["/policy-sets/shown?tab=rollout&start=v2", "policy-set-rollout-terms"],
      ["/policy-sets/shown?tab=history", "policy-set-history"],
      ["/explain", "explain"],
      ["/events", "events"],
      ["/settings", "settings-people"],
      ["/settings?tab=account", "settings-account"],
      ["/settings?tab=system", "settings-system"],
    ] as const)
      await picture(signIn, path, name);
    const denied = await bench.control.context
      .db("audit_records")
      .where({ kind: "decision" })
      .first<{ id: string }>("id");
    await picture(signIn, `/explain?decision=${denied.id}&with=active`, "explain-record");
    await picture(signIn, EXAMPLE, "explained");
    await picture(signIn, "/keys?new=gateway", "new-key");
    const { id } = await bench.control.context.db("webhooks").first<{ id: string }>("id");
    await picture(signIn, `/webhooks/${id}`, "webhook");
    await picture(signIn, "/customers/cus_nobody", "not-found");
    for (const [path, button] of [
      ["/customers", "Create a customer"],
      [`/customers/${customer}`, "Suspend"],
      [`/customers/${customer}?tab=provider`, "Replace"],
      [`/customers/${customer}?tab=provider`, "Test the connection"],
      [`/customers/${customer}?tab=policies`, "Assign a policy"],
      ["/sessions", "End"],
      ["/policies", "New policy"],
      [`/policies/${policy.id}`, "Assign to a customer"],
      ["/policy-sets/shown", "Roll back"],
      ["/policy-sets/shown?tab=edit&from=v3", "Publish"],
      ["/policy-sets/shown?tab=rollout", "Promote"],
      ["/keys", "Roll"],
      ["/keys", "Revoke"],
      ["/audit", "Show"],
      ["/gateways", "Details"],
      ["/webhooks", "Register a webhook"],
      [`/webhooks/${id}`, "Roll the secret"],
      [`/webhooks/${id}`, "Open"],
      ["/settings", "Invite somebody"],
    ] as const)
      await picture(signIn, path, `dialog-${button.toLowerCase().replaceAll(" ", "-")}`, button);
  });
});

describe("pictures of the dashboard of a sandbox", () => {
  let bench: DashboardBench;
  let browser: Browser;
  before(async () => {
    mkdirSync(FOLDER, { recursive: true });
    await buildDashboard();
    browser = await startBrowser();
    bench = await DashboardBench.start(browser, "sandbox");
  });
  after(async () => {
    await bench.close();
    await browser.close();
  });

  it("are taken of what differs there", async () => {
    const owner = await bench.owner();
    const page = await bench.open("/");
    await picture(page, "/", "sandbox-sign-in");
    await bench.signIn(page, owner.email);
    const customer = await fill(bench, owner.headers);
    for (const [email, name, role] of [
      ["ada@acme.example", "Ada", "manager"],
      ["ben@acme.example", "Ben", "viewer"],
    ] as const)
      await bench.control.request("POST", "/sandbox/people", {
        headers: owner.headers,
        body: { customer_id: customer, email, name, role, department: "finance" },
      });
    const people = `/customers/${customer}?tab=people`;
    for (const [path, name] of [
      ["/?range=1h", "sandbox-overview"],
      ["/customers", "sandbox-customers"],
      [people, "sandbox-people"],
    ] as const)
      await picture(page, path, name);
    for (const button of ["Add a person", "Sign in", "Remove"])
      await picture(page, people, `dialog-sandbox-${button.toLowerCase().replaceAll(" ", "-")}`, button);
  });
});

/** In each theme and size; with a button, of the dialog that its press opens. */
async function picture(page: Page, path: string, name: string, button?: string): Promise<void> {
  for (const theme of THEMES)
    for (const [size, viewport] of Object.entries(SIZES)) {
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme: theme });
      await page.goto(path);
      await page.locator("h1").waitFor();
      await eventually(
        "the page",
        async () => (await page.locator("[aria-busy=true], progress").count()) === 0,
      );
      if (button !== undefined) await openDialog(page, button);
      // a dialog is as large as the window
      await page.screenshot({
        path: join(FOLDER, `${name}-${theme}-${size}.png`),
        fullPage: button === undefined,
      });
    }
}

async function openDialog(page: Page, button: string): Promise<void> {
  const text = new RegExp(`^\\s*${button}\\s*$`);
  await page.getByRole("main").locator("button").filter({ hasText: text }).first().click();
  await page.getByRole("dialog").waitFor();
  await eventually("the dialog", async () => (await page.locator("[aria-busy=true]").count()) === 0);
}

/** Something on every page. @returns a customer's id */
async function fill(bench: DashboardBench, headers: Readonly<Record<string, string>>): Promise<string> {
  const ask = async (method: string, path: string, body: object): Promise<string> =>
    (await bench.control.request(method, path, { headers, body })).body.data.id as string;
  const ids: string[] = [];
  for (const name of [
    "Acme",
    "Globex Corporation",
    "Initech",
    "Umbrella",
    "A customer with a rather long name, Incorporated",
  ])
    ids.push(
      await ask("POST", "/customers", { name, allowed_return_urls: ["https://app.example.com/signed-in"] }),
    );
  const [customer = ""] = ids;
  await ask("POST", `/customers/${customer}/idp`, {
    ...{
      type: "okta",
      domain: "acme.okta.com",
      client_id: "0oa1b2c3",
      client_secret: "secret",
      verify: false,
    },
  });
  const policy = await ask("POST", "/policies", {
    name: "MFA",
    type: "authentication",
    conditions: { mfa_required: true },
  });
  await ask("POST", `/customers/${customer}/policies`, { policy_ids: [policy] });
  for (const agent of ["Mozilla/5.0 (X11; Linux x86_64) Chrome/153.0", "curl/8.5"])
    await bench.session(customer, agent);
  const { secret } = await makeKey(bench.control, { name: "edge", scope: "gateway" });
  await makeKey(bench.control, { name: "billing", scope: "read_only" });
  const now = Date.now();
  await bench.decide(
    secret,
    Array.from({ length: 400 }, (_, n) => ({
      timestamp: new Date(now - ((n * 7919) % 3_500) * 1000).toISOString(),
      resource: ["/api/customers/7", "/api/orders", "/admin"][n % 3],
      customer_id: ids[n % ids.length],
      ...(n % 4 === 0 && { decision: "DENY", reason: REASONS[(n / 4) % 3], rule: null }),
    })),
  );
  for (const [version, roles] of [
    ["v1", '["admin", "manager", "support"]'],
    ["v2", '["admin", "manager"]'],
    ["v3", '["admin"]'],
  ] as const)
    await ask("POST", "/policy-sets", {
      name: "shown",
      files: [{ name: "main.yaml", text: shownSet(version, roles) }],
      activate: version === "v1",
    });
  await ask("POST", "/policy-sets/shown/rollout", { version: "v2", mode: "enforce", percentage: 20 });
  await ask("POST", "/webhooks", { url: "http://127.0.0.1:9/hook", events: ["*"] });
  const hook = await bench.control.context.db("webhooks").first<{ id: string }>("id");
  await ask("POST", `/webhooks/${hook.id}/test`, {});
  const registered = await bench.control.request("POST", "/gateway/registration", {
    headers: { authorization: `Bearer ${secret}`, "x-gatehouse-gateway": "edge-1" },
    body: {
      ...{ id: "edge-1:8000", kind: "gateway", address: "http://10.0.0.4:8000", version: "0.1.0" },
      policies: { source: "directory", set: "default", version: "v1", digest: "0".repeat(64) },
      rollout: null,
      workers: { expected: 2, ready: 2 },
      ...{ started_at: new Date(now).toISOString(), sent_at: new Date().toISOString() },
      ...{ interval_ms: 60_000, leaving: false },
    },
  });
  if (registered.status >= 300) throw new Error(registered.text);
  return customer;
}

function shownSet(version: string, roles: string): string {
  return `policy_set: shown
version: ${version}

policies:
  - name: Customers of one's own
    resource: "GET /api/customers/{customer_id}"
    condition: user.role in ${roles} and user.customer_id == path.customer_id
  - resource: "POST /api/orders"
    condition: user.permissions.includes("orders:create") and request.headers["x-tier"] != "trial"

response_masks:
  - api_pattern: "GET /api/customers/{customer_id}"
    fields:
      - name: ssn
        condition: user.role != "admin"
        mask_type: partial
`;
}
