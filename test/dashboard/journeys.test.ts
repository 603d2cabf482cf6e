import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { eventually } from "../support/eventually.ts";
import { makePerson, newSetupLink, PASSWORD, signIn, type Person } from "../support/guarded-control.ts";
import { startReceiver, type WebhookReceiver } from "../support/webhook-receiver.ts";
import { DashboardBench, problemsOf, tabTo } from "./support.ts";

const MARKUP = `<img src=x onerror="globalThis.hit=1"><script>globalThis.hit=1</script>`;
const OWNER = "olga@example.com";

/** In order, as one person would go: each builds on what was made before. */
describe("the dashboard in a browser", () => {
  let bench: DashboardBench;
  let receiver: WebhookReceiver;
  let page: Page;
  let owner: Person;
  let customer = "";
  let gatewayKey = "";
  before(async () => {
    [bench, receiver] = await Promise.all([DashboardBench.start(), startReceiver()]);
  });
  after(async () => {
    await bench.close();
    await receiver.close();
  });
  afterEach(() => {
    assert.deepEqual(bench.complaints, []);
  });
  const button = (name: string) => page.getByRole("button", { name, exact: true });
  const heading = (name: string) => page.getByRole("heading", { name }).waitFor();
  const dialog = () => page.getByRole("dialog");
  const go = (name: string) =>
    page
      .getByRole("navigation", { name: "Pages", exact: true })
      .getByRole("link", { name, exact: true })
      .click();

  it("leads from the setup link to the sign-in, and shows what is wrong there", async () => {
    page = await bench.open(new URL(await newSetupLink(bench.control)).href);
    await page.getByLabel("E-mail address").fill(OWNER);
    await page.getByLabel("Name", { exact: true }).fill("Olga");
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button").click();
    await page.getByRole("link", { name: "Sign in" }).click();
    await page.getByLabel("E-mail address").fill(OWNER);
    await page.getByLabel("Password").fill("wrong");
    await button("Sign in").click();
    await page.getByRole("alert").getByText("incorrect e-mail address or password").waitFor();
    assert.deepEqual(await problemsOf(page), []);
    await bench.signIn(page, OWNER);
    await heading("First steps");
    assert.match(await page.title(), /Gatehouse Production$/);
    await page.getByText("Production: changes affect real users").waitFor();
    await page.getByText("Waiting for the first decision").waitFor();
    owner = await signIn(bench.control, OWNER);
    const scripts = await page.evaluate("document.cookie");
    assert.equal(scripts, "");
  });

  it("creates the first customer by keyboard alone, with errors beside their fields", async () => {
    await tabTo(page, "Create a customer");
    await page.keyboard.press("Enter");
    await dialog().waitFor();
    await tabTo(page, "Create a customer");
    await page.keyboard.press("Enter");
    await page.getByText("must not be empty").waitFor();
    assert.deepEqual(await problemsOf(page), []);
    await page.getByLabel("Name", { exact: true }).focus();
    await page.keyboard.type("Acme");
    await tabTo(page, "Return URLs");
    await page.keyboard.type("https://app.example.com/signed-in");
    await tabTo(page, "Create a customer");
    await page.keyboard.press("Enter");
    await heading("Acme");
    const { pathname } = new URL(page.url());
    customer = pathname.split("/").at(-1) ?? "";
    const { allowed_return_urls: urls } = (
      await bench.control.request("GET", `/customers/${customer}`, { headers: owner.headers })
    ).body.data;
    assert.deepEqual(urls, ["https://app.example.com/signed-in"]);
  });

  it("configures its identity provider", async () => {
    await button("Configure the identity provider").click();
    await page.getByLabel("Type").selectOption("okta");
    await page.getByLabel("Domain").fill("acme.okta.com");
    await page.getByLabel("Client id").fill("client-1");
    await page.getByLabel("Client secret").fill("s3cret");
    await page.getByLabel("Verify the provider").uncheck();
    await button("Save").click();
    await page.getByText("https://acme.okta.com", { exact: true }).waitFor();
    assert.ok(!(await page.content()).includes("s3cret"));
  });

  it("generates a key, shows it once, and the first decision arrives without a reload", async () => {
    await go("Overview");
    await page.getByRole("link", { name: "Generate a gateway key" }).click();
    await page.getByLabel("Name", { exact: true }).fill("edge");
    await dialog().getByRole("button", { name: "Generate new key" }).click();
    await heading("Copy the key now");
    assert.deepEqual(await problemsOf(page), []);
    gatewayKey = (await dialog().locator("code").textContent()) ?? "";
    await page.keyboard.press("Escape");
    await button("I have stored it").click();
    await dialog().waitFor({ state: "detached" });
    assert.ok(!(await page.content()).includes(gatewayKey));
    await go("Overview");
    await page.getByText("Waiting for the first decision").waitFor();
    await bench.decide(gatewayKey, [
      {
        decision: "DENY",
        reason: "NO_MATCHING_POLICY",
        rule: null,
        resource: `/${MARKUP}`,
        customer_id: customer,
      },
      { customer_id: customer },
    ]);
    await page.getByText("The first decision has arrived").waitFor();
    await button("Show the overview").click();
    await page.getByRole("link", { name: "Denied: 1" }).waitFor();
  });

  it("leads from a figure to the records, and shows one of them whole", async () => {
    await page.getByRole("link", { name: "NO_MATCHING_POLICY" }).click();
    await heading("Audit");
    assert.equal(new URL(page.url()).searchParams.get("reason"), "NO_MATCHING_POLICY");
    await page.reload();
    await page.getByRole("button", { name: /^Show record decision/ }).click();
    await dialog().getByText('"decision": "DENY"').waitFor();
    assert.equal(await page.getByRole("row").count(), 2);
    await button("Close").click();
    await page.getByLabel("Reason", { exact: true }).fill("NOTHING_SUCH");
    await button("Apply").click();
    await heading("No records match");
    await button("Clear").click();
    await page.getByText("customer.created").first().waitFor();
  });

  it("shows markup of customers, user agents and paths as text", async () => {
    await bench.control.request("PUT", `/customers/${customer}`, {
      headers: owner.headers,
      body: { name: MARKUP },
    });
    await bench.session(customer, MARKUP);
    await page.goto("/customers");
    await page.getByRole("link", { name: MARKUP }).click();
    await heading(MARKUP);
    await page.getByRole("link", { name: "Users", exact: true }).click();
    await page.getByRole("cell", { name: MARKUP }).waitFor();
    await page.getByRole("link", { name: "Sessions", exact: true }).click();
    await page.getByRole("cell", { name: MARKUP }).waitFor();
    await page.goto("/audit?kind=decision&decision=DENY");
    await page.getByText(`GET /${MARKUP}`).waitFor();
    assert.equal(await page.evaluate("globalThis.hit"), undefined);
  });

  it("ends one session, and all of a user", async () => {
    await page.goto(`/customers/${customer}?tab=sessions`);
    await button("End")
      .or(page.getByRole("button", { name: /^End session/ }))
      .first()
      .click();
    await dialog().getByText("This changes Production.").waitFor();
    await dialog().getByRole("button", { name: "End", exact: true }).click();
    await page.getByRole("status").getByText("Session ended").waitFor();
    await page.getByRole("cell", { name: "ended" }).waitFor();
    await bench.session(customer, "another");
    await page.goto(`/customers/${customer}?tab=users&sort=created_at&order=desc`);
    await page
      .getByRole("button", { name: /^End all sessions/ })
      .first()
      .click();
    await dialog().getByRole("button", { name: "End all sessions" }).click();
    await page.getByRole("status").getByText("Sessions ended: 1").waitFor();
    const { rows } = await bench.control.context.db.raw<{ rows: unknown[] }>(
      "select 1 from sessions where ended_at is null",
    );
    assert.equal(rows.length, 0);
  });

  it("registers a webhook, tests it, and delivers again", async () => {
    await go("Webhooks");
    await button("Register a webhook").click();
    await page.getByLabel("URL").fill(`${receiver.url}/hook`);
    await page.getByLabel("Events").fill("nothing.such");
    await dialog().getByRole("button", { name: "Register a webhook" }).click();
    await dialog().getByRole("alert").waitFor();
    await page.getByLabel("Events").fill("user.authenticated");
    await dialog().getByRole("button", { name: "Register a webhook" }).click();
    await button("I have stored it").click();
    await heading(`${receiver.url}/hook`);
    await button("Send a test event").click();
    await receiver.has(1);
    await page.getByRole("cell", { name: "delivered" }).waitFor();
    await page.getByRole("button", { name: /^Open delivery/ }).click();
    await button("Deliver again").click();
    const [first, second] = await receiver.has(2);
    assert.equal(first?.headers["webhook-id"], second?.headers["webhook-id"]);
  });

  it("rolls and revokes keys", async () => {
    await go("API keys");
    await button("Roll edge").click();
    await page.getByLabel("Overlap").selectOption("0");
    await dialog().getByRole("button", { name: "Roll" }).click();
    await heading("Copy the key now");
    const rolled = (await dialog().locator("code").textContent()) ?? "";
    await button("I have stored it").click();
    await assert.rejects(bench.decide(gatewayKey, [{}]), /API_KEY_ROLLED/);
    await bench.decide(rolled, [{}]);
    await button("Revoke edge").click();
    await dialog().getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("status").getByText("Key revoked").waitFor();
    await assert.rejects(bench.decide(rolled, [{}]), /API_KEY_REVOKED/);
  });

  it("has nothing that axe finds, on any page, in either theme", async () => {
    const webhook = (await bench.control.context.db("webhooks").first<{ id: string }>("id")).id;
    const paths = [
      ...[
        "/",
        "/customers",
        "/customers?name=nobody",
        "/keys",
        "/audit",
        "/gateways",
        "/webhooks",
        `/webhooks/${webhook}`,
      ],
      ...["details", "provider", "users", "sessions", "policies", "activity"].map(
        (tab) => `/customers/${customer}?tab=${tab}`,
      ),
      "/customers/cus_nobody",
    ];
    for (const theme of ["light", "dark"])
      for (const path of paths) {
        await page.goto(path);
        await page.getByLabel("Theme").selectOption(theme);
        await eventually("the page", async () => (await page.locator("[aria-busy=true]").count()) === 0);
        assert.deepEqual(await problemsOf(page), [], `${path} ${theme}`);
      }
  });

  it("fits a phone", async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    for (const path of ["/", "/customers", "/keys", "/audit", "/gateways", "/webhooks"]) {
      await page.goto(path);
      await page.locator("h1").waitFor();
      await eventually("the page", async () => (await page.locator("[aria-busy=true]").count()) === 0);
      assert.equal(await page.evaluate("document.documentElement.scrollWidth > innerWidth"), false, path);
    }
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  it("offers nothing to people who may only read, and says so where they may not even read", async () => {
    const viewer = await makePerson(bench.control, owner, "viewer");
    const other = await bench.open("/customers");
    await bench.signIn(other, viewer.email);
    await other.getByRole("link", { name: MARKUP }).waitFor();
    const offered = async () => other.getByRole("main").getByRole("button").allTextContents();
    const harmless =
      /^(Apply|Clear|Name|Status|Created|Time|Last |Previous|Next|Copy|Show|Open|Close|Try again|Export|Details|Signed in|E-mail|Assigned)/;
    for (const path of [
      "/customers",
      "/audit",
      "/gateways",
      "/webhooks",
      ...["details", "provider", "users", "sessions", "policies"].map(
        (tab) => `/customers/${customer}?tab=${tab}`,
      ),
    ]) {
      await other.goto(path);
      await other.locator("h1").waitFor();
      await eventually("the page", async () => (await other.locator("[aria-busy=true]").count()) === 0);
      assert.deepEqual(
        (await offered()).filter((name) => !harmless.test(name)),
        [],
        path,
      );
    }
    await other.goto("/keys");
    await other.getByRole("heading", { name: "Your role does not permit this" }).waitFor();
    await other.context().close();
  });

  it("refuses a button that was there before the rights were taken away", async () => {
    const admin = await makePerson(bench.control, owner, "admin");
    const other = await bench.open("/customers");
    await bench.signIn(other, admin.email);
    await other.getByRole("button", { name: "Create a customer" }).click();
    await other.getByLabel("Name", { exact: true }).fill("Not for viewers");
    await bench.control.request("PUT", `/dashboard/users/${admin.id}`, {
      headers: owner.headers,
      body: { role: "viewer" },
    });
    await other.getByRole("dialog").getByRole("button", { name: "Create a customer" }).click();
    await other.getByRole("alert").getByText("role").waitFor();
    await bench.control.request("DELETE", `/dashboard/users/${admin.id}`, { headers: owner.headers });
    await other.getByRole("dialog").getByRole("button", { name: "Create a customer" }).click();
    await other.getByText("Your session has ended").waitFor();
    const names = await bench.control.context.db("customers").pluck<string[]>("name");
    assert.deepEqual(names, [MARKUP]);
    await other.context().close();
  });

  it("goes on in a stale tab of the same person, and asks for a sign-in after a sign-out elsewhere", async () => {
    await page.goto(`/customers/${customer}`);
    const second = await bench.tab(page, "/keys");
    await second.getByRole("button", { name: "Sign out" }).click();
    await bench.signIn(second, OWNER);
    await button("Suspend").click();
    await dialog().getByRole("button", { name: "Suspend" }).click();
    await page.getByText("suspended", { exact: true }).waitFor();
    await second.getByRole("button", { name: "Sign out" }).click();
    await second.getByRole("button", { name: "Sign in" }).waitFor();
    await button("Activate").click();
    await dialog().getByRole("button", { name: "Activate" }).click();
    await page.getByText("Your session has ended").waitFor();
    await bench.signIn(page, OWNER);
    await heading(MARKUP);
    assert.ok(page.url().endsWith(`/customers/${customer}`));
  });

  it("cannot be framed", async () => {
    const outer = await page.context().newPage();
    await outer.route("https://evil.example/", (route) =>
      route.fulfill({ contentType: "text/html", body: `<iframe src="${bench.control.url}/keys"></iframe>` }),
    );
    await outer.goto("https://evil.example/");
    const frame = outer.frames()[1];
    assert.equal(await frame?.locator("h1").count(), 0);
    await outer.close();
  });
});
