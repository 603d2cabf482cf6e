import assert from "node:assert/strict";
import { makePerson, newSetupLink, PASSWORD, signIn } from "../../support/guarded-control.ts";
import type { WebhookReceiver } from "../../support/webhook-receiver.ts";
import { problemsOf, staysInDialog, tabTo } from "../support.ts";
import { changedKeys } from "./changed-keys.ts";
import { MARKUP, type Journey } from "./journey.ts";

const OWNER = "olga@example.com";

/** From the setup link to customers, keys, sessions and webhooks. */
export function firstSteps(journey: Journey, receiver: () => WebhookReceiver): void {
  const { belongings, bench, page, owner, customer, button, heading } = journey;
  const { dialog, said, press, type, focusOn } = journey;
  let gatewayKey = "";
  it("leads from the setup link to the sign-in by keyboard alone, and shows what is wrong there", async () => {
    belongings.page = await bench().open(new URL(await newSetupLink(bench().control)).href);
    await type("E-mail address", OWNER);
    await type("Name", "Olga");
    await type("Password", PASSWORD);
    await page().keyboard.press("Enter");
    await page().getByRole("link", { name: "Sign in" }).waitFor();
    await press("Sign in");
    await button("Sign in").waitFor();
    await type("E-mail address", OWNER);
    await type("Password", "wrong");
    await page().keyboard.press("Enter");
    await page().getByRole("alert").getByText("incorrect e-mail address or password").waitFor();
    assert.deepEqual(await problemsOf(page()), []);
    await type("Password", PASSWORD);
    await page().keyboard.press("Enter");
    await button("Sign out").waitFor();
    await heading("First steps");
    assert.match(await page().title(), /Gatehouse Production$/);
    await page().getByText("Production: changes affect real users").waitFor();
    await page().getByText("Waiting for the first decision").waitFor();
    belongings.owner = await signIn(bench().control, OWNER);
    const scripts = await page().evaluate("document.cookie");
    assert.equal(scripts, "");
  });

  it("creates the first customer by keyboard alone, with errors beside their fields", async () => {
    await tabTo(page(), "Create a customer");
    await page().keyboard.press("Enter");
    await dialog().waitFor();
    await tabTo(page(), "Create a customer");
    await page().keyboard.press("Enter");
    await page().getByText("must not be empty").waitFor();
    assert.deepEqual(await problemsOf(page()), []);
    await page().getByLabel("Name", { exact: true }).focus();
    await page().keyboard.type("Acme");
    await tabTo(page(), "Return URLs");
    await page().keyboard.type("https://app.example.com/signed-in");
    await tabTo(page(), "Create a customer");
    await page().keyboard.press("Enter");
    await heading("Acme");
    const { pathname } = new URL(page().url());
    belongings.customer = pathname.split("/").at(-1) ?? "";
    const { allowed_return_urls: urls } = (
      await bench().control.request("GET", `/customers/${customer()}`, { headers: owner().headers })
    ).body.data;
    assert.deepEqual(urls, ["https://app.example.com/signed-in"]);
  });

  it("configures its identity provider by keyboard alone", async () => {
    await press("Identity provider");
    await button("Configure the identity provider").waitFor();
    await press("Configure the identity provider");
    await dialog().waitFor();
    await tabTo(page(), "Type");
    await page().keyboard.type("okta");
    await type("Domain", "acme.okta.com");
    await type("Client id", "client-1");
    await type("Client secret", "s3cret");
    await tabTo(page(), "Verify the provider before saving");
    await page().keyboard.press("Space");
    await press("Save");
    await page().getByText("https://acme.okta.com", { exact: true }).waitFor();
    assert.ok(!(await page().content()).includes("s3cret"));
  });

  it("generates a key by keyboard alone, shows it once, and the first decision arrives without a reload", async () => {
    await press("Overview");
    await page().getByRole("link", { name: "Generate a gateway key" }).waitFor();
    await press("Generate a gateway key");
    await dialog().waitFor();
    await type("Name", "edge");
    assert.deepEqual(await problemsOf(page()), []);
    await press("Generate new key");
    await heading("Copy the key now");
    assert.deepEqual(await problemsOf(page()), []);
    gatewayKey = (await dialog().locator("code").textContent()) ?? "";
    await page().keyboard.press("Escape");
    await press("I have stored it");
    await dialog().waitFor({ state: "detached" });
    assert.ok(!(await page().content()).includes(gatewayKey));
    await press("Overview");
    await page().getByText("Waiting for the first decision").waitFor();
    await bench().decide(gatewayKey, [
      {
        decision: "DENY",
        reason: "NO_MATCHING_POLICY",
        rule: null,
        resource: `/${MARKUP}`,
        customer_id: customer(),
      },
      { customer_id: customer() },
    ]);
    await page().locator(".waiting.here").getByText("The first decision has arrived").waitFor();
    await press("Show the overview");
    await page().getByRole("link", { name: "Denied: 1" }).waitFor();
  });

  it("leads from each figure to what is behind it", async () => {
    const behind = async (name: RegExp) => {
      const link = page().getByRole("link", { name });
      return new URL((await link.getAttribute("href")) ?? "", page().url());
    };
    for (const [figure, path, kind] of [
      [/^Decisions: 2/, "/audit", "decision"],
      [/^Decision time, p99: /, "/audit", "decision"],
      [/^Sign-ins: 0/, "/events", "user.authenticated"],
      [/^0 failed/, "/events", "user.authentication_failed"],
    ] as const) {
      const { pathname, searchParams } = await behind(figure);
      assert.deepEqual([pathname, searchParams.get("kind") ?? searchParams.get("type")], [path, kind]);
      assert.ok(searchParams.has("from"), String(figure));
    }
    await page()
      .getByRole("link", { name: /^Active users: 1/ })
      .click();
    const users = page().getByRole("region", { name: "Active users" }).first();
    await users.getByRole("link").first().click();
    await heading("Audit");
    assert.ok(new URL(page().url()).searchParams.has("user_id"));
    await page().getByText("NO_MATCHING_POLICY").first().waitFor();
    await page().goto("/");
  });

  it("leads from each period of the chart to its decisions, by keyboard alone", async () => {
    await press("Show as a table");
    const periods = page().getByRole("region", { name: "Decisions over time" });
    await tabTo(page(), "Decisions over time");
    await page().keyboard.press("Tab");
    await page().keyboard.press("Enter");
    assert.equal(await periods.count(), 0);
    await heading("Audit");
    const { searchParams } = new URL(page().url());
    assert.ok(Date.parse(searchParams.get("from") ?? "") < Date.parse(searchParams.get("to") ?? ""));
    await page().getByText("NO_MATCHING_POLICY").first().waitFor();
    await page().goto("/");
  });

  it("leads from a figure to the records, and shows one of them whole", async () => {
    await page().getByRole("link", { name: "NO_MATCHING_POLICY" }).click();
    await heading("Audit");
    assert.equal(new URL(page().url()).searchParams.get("reason"), "NO_MATCHING_POLICY");
    await page().reload();
    await page()
      .getByRole("button", { name: /^Show record decision/ })
      .click();
    await dialog().getByText('"decision": "DENY"').waitFor();
    assert.equal(await page().getByRole("row").count(), 2);
    assert.deepEqual(await problemsOf(page()), []);
    await button("Close").click();
  });

  it("searches the trail by keyboard alone", async () => {
    await page().goto("/audit");
    await page().getByText("customer.created").first().waitFor();
    await tabTo(page(), "Verdict");
    await page().keyboard.type("DENY");
    await tabTo(page(), "More filters");
    await page().keyboard.press("Enter");
    await type("Reason", "NOTHING_SUCH");
    await press("Apply");
    await heading("No records match");
    await focusOn("Apply");
    assert.deepEqual(await problemsOf(page()), []);
    await type("Reason", "NO_MATCHING_POLICY");
    await page().keyboard.press("Enter");
    const show = page().getByRole("button", { name: /^Show record decision/ });
    await show.waitFor();
    await focusOn("Reason");
    assert.equal(new URL(page().url()).searchParams.get("decision"), "DENY");
    await press((await show.getAttribute("aria-label")) ?? "");
    await dialog().getByText('"reason": "NO_MATCHING_POLICY"').waitFor();
    await staysInDialog(page());
    await press("Close");
    await dialog().waitFor({ state: "detached" });
    await focusOn((await show.getAttribute("aria-label")) ?? "");
    await press("Clear");
    await page().getByText("customer.created").first().waitFor();
    assert.equal(new URL(page().url()).search, "");
  });

  it("shows markup of customers, user agents and paths as text", async () => {
    await bench().control.request("PUT", `/customers/${customer()}`, {
      headers: owner().headers,
      body: { name: MARKUP },
    });
    await bench().session(customer(), MARKUP);
    await page().goto("/customers");
    await page().getByRole("link", { name: MARKUP }).click();
    await heading(MARKUP);
    await page().getByRole("link", { name: "Users", exact: true }).click();
    await page().getByRole("cell", { name: MARKUP }).waitFor();
    const tabs = page().getByRole("navigation", { name: "Parts of the customer" });
    await tabs.getByRole("link", { name: "Sessions" }).click();
    await page().getByRole("cell", { name: MARKUP }).waitFor();
    await page().goto("/audit?kind=decision&decision=DENY");
    await page().getByText(`GET /${MARKUP}`).waitFor();
    assert.equal(await page().evaluate("globalThis.hit"), undefined);
  });

  it("ends one session, and all of a user", async () => {
    // from the figure, over the list of all
    await page().goto("/");
    await press("Open sessions: 1");
    await heading("Sessions");
    await page().getByRole("cell", { name: MARKUP }).waitFor();
    assert.equal(await page().getByRole("row").count(), 2);
    await press(customer());
    const end = page().getByRole("button", { name: /^End session/ });
    await end.waitFor();
    await press((await end.getAttribute("aria-label")) ?? "");
    await dialog().getByText("This changes Production.").waitFor();
    await press("End");
    await page().getByRole("status").getByText("Session ended").waitFor();
    await focusOn("Sessions");
    await page().getByRole("cell", { name: "ended" }).waitFor();
    await bench().session(customer(), "another");
    await page().goto(`/customers/${customer()}?tab=users&sort=created_at&order=desc`);
    await page()
      .getByRole("button", { name: /^End all sessions/ })
      .first()
      .click();
    await dialog().getByRole("button", { name: "End all sessions" }).click();
    await page().getByRole("status").getByText("Sessions ended: 1").waitFor();
    const { rows } = await bench().control.context.db.raw<{ rows: unknown[] }>(
      "select 1 from sessions where ended_at is null",
    );
    assert.equal(rows.length, 0);
  });

  it("registers a webhook, tests it, and delivers again, by keyboard alone", async () => {
    await press("Webhooks");
    await button("Register a webhook").waitFor();
    await press("Register a webhook");
    await dialog().waitFor();
    await type("URL", `${receiver().url}/hook`);
    await type("Events", "nothing.such");
    await press("Register a webhook");
    await dialog().getByRole("alert").waitFor();
    assert.deepEqual(await problemsOf(page()), []);
    await type("Events", "user.authenticated");
    await page().keyboard.press("Enter");
    await heading("Copy the secret now");
    assert.deepEqual(await problemsOf(page()), []);
    await press("I have stored it");
    await heading(`${receiver().url}/hook`);
    await press("Send a test event");
    await receiver().has(1);
    await page().getByRole("cell", { name: "delivered" }).waitFor();
    const open = page().getByRole("button", { name: /^Open delivery/ });
    await press((await open.getAttribute("aria-label")) ?? "");
    await dialog().getByText("what was sent").waitFor();
    assert.deepEqual(await problemsOf(page()), []);
    await press("Deliver again");
    const [first, second] = await receiver().has(2);
    assert.equal(first?.headers["webhook-id"], second?.headers["webhook-id"]);
    await dialog().waitFor({ state: "detached" });
  });

  it("rolls and revokes keys by keyboard alone", async () => {
    await press("API keys");
    await button("Roll edge").waitFor();
    await press("Roll edge");
    await dialog().waitFor();
    assert.deepEqual(await problemsOf(page()), []);
    await staysInDialog(page());
    await page().keyboard.press("Escape");
    await dialog().waitFor({ state: "detached" });
    await focusOn("Roll edge");
    await page().keyboard.press("Enter");
    await dialog().waitFor();
    await tabTo(page(), "Overlap");
    await page().keyboard.press("Home");
    await press("Roll");
    await heading("Copy the key now");
    const rolled = (await dialog().locator("code").textContent()) ?? "";
    // there is no second time
    for (const key of ["Escape", "Escape"]) await page().keyboard.press(key);
    await press("I have stored it");
    await dialog().waitFor({ state: "detached" });
    await assert.rejects(bench().decide(gatewayKey, [{}]), /API_KEY_ROLLED/);
    await bench().decide(rolled, [{}]);
    // the rolled key is in the list, too, and is not offered any more
    await page().getByRole("cell", { name: "revoked" }).waitFor();
    await press("Revoke edge");
    await dialog().waitFor();
    assert.deepEqual(await problemsOf(page()), []);
    await press("Revoke");
    await said("Key revoked");
    await assert.rejects(bench().decide(rolled, [{}]), /API_KEY_REVOKED/);
    await focusOn("API keys");
  });

  changedKeys(journey);

  it("refuses a button that was there before the rights were taken away", async () => {
    const admin = await makePerson(bench().control, owner(), "admin");
    const other = await bench().open("/customers");
    await bench().signIn(other, admin.email);
    await other.getByRole("button", { name: "Create a customer" }).click();
    await other.getByLabel("Name", { exact: true }).fill("Not for viewers");
    await bench().control.request("PUT", `/dashboard/users/${admin.id}`, {
      headers: owner().headers,
      body: { role: "viewer" },
    });
    await other.getByRole("dialog").getByRole("button", { name: "Create a customer" }).click();
    await other.getByRole("alert").getByText("role").waitFor();
    await bench().control.request("DELETE", `/dashboard/users/${admin.id}`, { headers: owner().headers });
    await other.getByRole("dialog").getByRole("button", { name: "Create a customer" }).click();
    await other.getByText("Your session has ended").waitFor();
    const names = await bench().control.context.db("customers").pluck<string[]>("name");
    assert.deepEqual(names, [MARKUP]);
    await other.context().close();
  });

  it("goes on in a stale tab of the same person, and asks for a sign-in after a sign-out elsewhere", async () => {
    await page().goto(`/customers/${customer()}`);
    const second = await bench().tab(page(), "/keys");
    await second.getByRole("button", { name: "Sign out" }).click();
    await bench().signIn(second, OWNER);
    await button("Suspend").click();
    await dialog().getByRole("button", { name: "Suspend" }).click();
    await page().getByText("suspended", { exact: true }).waitFor();
    await second.getByRole("button", { name: "Sign out" }).click();
    await second.getByRole("button", { name: "Sign in" }).waitFor();
    await button("Activate").click();
    await dialog().getByRole("button", { name: "Activate" }).click();
    await page().getByText("Your session has ended").waitFor();
    await bench().signIn(page(), OWNER);
    await heading(MARKUP);
    assert.ok(page().url().endsWith(`/customers/${customer()}`));
  });

  it("cannot be framed", async () => {
    const outer = await page().context().newPage();
    await outer.route("https://evil.example/", (route) =>
      route.fulfill({
        contentType: "text/html",
        body: `<iframe src="${bench().control.url}/keys"></iframe>`,
      }),
    );
    await outer.goto("https://evil.example/");
    const frame = outer.frames()[1];
    assert.equal(await frame?.locator("h1").count(), 0);
    await outer.close();
  });
}
