import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { eventually } from "../support/eventually.ts";
import { makeKey, makePerson, PASSWORD, type Person } from "../support/guarded-control.ts";
import { startIdentityProvider, type IdentityProvider } from "../support/providers/identity-provider.ts";
import { DashboardBench, problemsOf, tabTo } from "./support.ts";

const MARKUP = `<img src=x onerror="globalThis.hit=1">`;
const PAGES = ["/explain", "/events", "/settings", "/settings?tab=account", "/settings?tab=system"];

describe("settings, audit and providers in the dashboard", () => {
  let bench: DashboardBench;
  let provider: IdentityProvider;
  let owner: Person;
  let page: Page;
  let customer = "";
  before(async () => {
    bench = await DashboardBench.start();
    provider = await startIdentityProvider({ redirectUri: `${bench.control.url}/v1/auth/callback` });
    owner = await bench.owner();
    const made = await ask("POST", "/customers", { name: "Acme" });
    customer = String(made["id"]);
    page = await bench.open("/settings");
    await bench.signIn(page, owner.email);
  });
  after(async () => {
    await provider.close();
    await bench.close();
  });
  afterEach(() => {
    assert.deepEqual(bench.complaints, []);
  });
  const ask = async (method: string, path: string, body?: object): Promise<Record<string, unknown>> => {
    const answer = await bench.control.request(method, path, {
      headers: owner.headers,
      ...(body && { body }),
    });
    assert.ok(answer.status < 300, answer.text);
    return answer.body.data as Record<string, unknown>;
  };
  const button = (name: string) => page.getByRole("button", { name, exact: true });
  const dialog = () => page.getByRole("dialog");
  const settled = (on: Page = page) =>
    eventually("the page", async () => (await on.locator("[aria-busy=true]").count()) === 0);

  it("invites somebody by keyboard alone, who sets a password and signs in", async () => {
    await button("Invite somebody").waitFor();
    await tabTo(page, "Invite somebody");
    await page.keyboard.press("Enter");
    await dialog().waitFor();
    await tabTo(page, "E-mail address");
    await page.keyboard.type("ines@example.com");
    await tabTo(page, "Name");
    await page.keyboard.type("Ines");
    await tabTo(page, "Role");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await tabTo(page, "Invite somebody");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Copy the invitation link now" }).waitFor();
    assert.deepEqual(await problemsOf(page), []);
    const link = (await dialog().locator("code").textContent()) ?? "";
    await button("I have copied it").click();
    await page.getByRole("cell", { name: "invited" }).waitFor();
    assert.ok(!(await page.content()).includes(new URL(link).searchParams.get("token") ?? link));
    const other = await bench.open(link);
    await other.getByLabel("Password").fill(PASSWORD);
    await other.getByRole("button").click();
    await other.getByRole("link", { name: "Sign in" }).click();
    await bench.signIn(other, "ines@example.com");
    await page.goto("/settings");
    await button("Change role of ines@example.com").click();
    await page.getByLabel("Role", { exact: true }).selectOption("viewer");
    await dialog().getByRole("button", { name: "Change role" }).click();
    await page.getByRole("status").getByText("Role changed").waitFor();
    await other.goto("/settings");
    await other.getByRole("heading", { name: "Change the password" }).waitFor();
    assert.equal(await other.getByRole("button", { name: "Invite somebody" }).count(), 0);
    await button("Remove ines@example.com").click();
    await dialog().getByRole("button", { name: "Remove" }).click();
    await page.getByRole("status").getByText("Person removed").waitFor();
    await other.getByLabel("Current password").fill(PASSWORD);
    await other.getByLabel("New password").fill(`${PASSWORD}!`);
    await other.getByRole("main").getByRole("button", { name: "Change the password" }).click();
    await other.getByText("Your session has ended").waitFor();
    await other.context().close();
  });

  it("shows what is wrong with a password, and the health of the system", async () => {
    await page.getByRole("link", { name: "Your account" }).click();
    await page.getByLabel("Current password").fill("wrong");
    await page.getByLabel("New password").fill(`${PASSWORD}!`);
    await page.getByRole("main").getByRole("button", { name: "Change the password" }).click();
    await page.locator(".problem").first().waitFor();
    await page.getByRole("link", { name: "System" }).click();
    await page.getByRole("cell", { name: "database" }).waitFor();
    await page.getByRole("cell", { name: "Management" }).waitFor();
    assert.ok((await page.getByRole("link", { name: "/.well-known/jwks.json" }).count()) === 1);
  });

  it("tests a provider step by step, and shows whom a token would sign in", async () => {
    await ask("POST", `/customers/${customer}/idp`, {
      ...{ type: "oidc", domain: provider.issuer, client_id: provider.clientId, client_secret: "wrong" },
      claims: { role: "role" },
    });
    await page.goto(`/customers/${customer}?tab=provider`);
    await button("Test the connection").click();
    const token = ["{}", JSON.stringify({ sub: "u-1", name: MARKUP, role: "admin" }), ""]
      .map((part) => Buffer.from(part).toString("base64url"))
      .join(".");
    await page.getByLabel("ID token").fill(token);
    await button("Run the test").click();
    await dialog().getByText("invalid_client").waitFor();
    assert.equal(await dialog().getByText("passed").count(), 6);
    await dialog().getByText(MARKUP).waitFor();
    await dialog().getByText("Not permitted by the customer's lists").waitFor();
    assert.deepEqual(await problemsOf(page), []);
    await ask("POST", `/customers/${customer}/idp`, {
      ...{ type: "oidc", domain: provider.issuer, client_id: provider.clientId },
      client_secret: provider.clientSecret,
    });
    await button("Run the test").click();
    await eventually("all steps", async () => (await dialog().getByText("passed").count()) === 7);
    await button("Close").click();
  });

  it("shows both versions where somebody else was faster", async () => {
    await page.goto(`/customers/${customer}`);
    await button("Suspend").click();
    await ask("PUT", `/customers/${customer}`, { name: "Acme Incorporated" });
    await dialog().getByRole("button", { name: "Suspend" }).click();
    const row = dialog().getByRole("row", { name: /^name/ });
    await row.getByText('"Acme"', { exact: true }).waitFor();
    await row.getByText('"Acme Incorporated"').waitFor();
    assert.deepEqual(await problemsOf(page), []);
    await button("Cancel").click();
  });

  it("shows a change before and after, follows the trail, and exports it", async () => {
    await page.goto("/audit?kind=change&action=customer.updated");
    await page.getByRole("button", { name: /^Show record/ }).click();
    await dialog().getByRole("row", { name: /^name/ }).getByText('"Acme Incorporated"').waitFor();
    await button("Close").click();
    await page.getByLabel("Live").check();
    assert.equal(new URL(page.url()).searchParams.get("live"), "1");
    await ask("PUT", `/customers/${customer}`, { name: "Acme" });
    await eventually("the second change", async () => (await page.getByRole("row").count()) === 3);
    const [download] = await Promise.all([page.waitForEvent("download"), button("Export").click()]);
    const lines = (await readFile(await download.path(), "utf8")).trim().split("\n");
    assert.deepEqual(
      lines.map((line) => (JSON.parse(line) as { action: string }).action),
      ["customer.updated", "customer.updated"],
    );
    await page.getByRole("status").getByText("Exported: 2 records").waitFor();
  });

  it("shows what a gateway says of itself as text", async () => {
    const { secret } = await makeKey(bench.control, { name: "edge", scope: "gateway" });
    const sent = new Date().toISOString();
    const registered = await bench.control.request("POST", "/gateway/registration", {
      headers: { authorization: `Bearer ${secret}`, "x-gatehouse-gateway": "edge-1" },
      body: {
        ...{ id: "edge-1:8000", kind: "gateway", address: "http://10.0.0.4:8000", version: "0.1.0" },
        policies: { source: "directory", set: "default", version: "v1", digest: "0".repeat(64) },
        rollout: null,
        workers: { expected: 2, ready: 2 },
        ...{ started_at: sent, sent_at: sent, interval_ms: 60_000, leaving: false },
      },
    });
    assert.ok(registered.status < 300, registered.text);
    await bench.control.context
      .db("gateways")
      .update({ name: MARKUP, address: MARKUP, version: MARKUP, policy_set: MARKUP });
    await page.goto("/gateways");
    await page.getByRole("button", { name: /^Details of/ }).click();
    await dialog().getByText("Enforces it since").waitFor();
    assert.ok((await dialog().getByText(MARKUP).count()) >= 3);
    assert.deepEqual(await problemsOf(page), []);
    assert.equal(await page.evaluate("globalThis.hit"), undefined);
  });

  it("has nothing that axe finds on these pages in either theme, and fits a phone", async () => {
    for (const path of PAGES)
      for (const theme of ["light", "dark"]) {
        await page.goto(path);
        await page.getByLabel("Theme").selectOption(theme);
        await page.locator("h1").waitFor();
        await settled();
        assert.deepEqual(await problemsOf(page), [], `${path} ${theme}`);
      }
    await page.setViewportSize({ width: 360, height: 740 });
    for (const path of PAGES) {
      await page.goto(path);
      await page.locator("h1").waitFor();
      await settled();
      assert.equal(await page.evaluate("document.documentElement.scrollWidth > innerWidth"), false, path);
    }
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  it("offers a person who may only read nothing but reading", async () => {
    const viewer = await makePerson(bench.control, owner, "viewer");
    const other = await bench.open("/explain");
    await bench.signIn(other, viewer.email);
    await other.getByRole("button", { name: "Explain", exact: true }).waitFor();
    await other.goto(`/customers/${customer}?tab=provider`);
    await other.getByText(provider.issuer, { exact: true }).first().waitFor();
    assert.equal(await other.getByRole("button", { name: "Test the connection" }).count(), 0);
    await other.goto("/settings?tab=people");
    await other.getByRole("heading", { name: "Change the password" }).waitFor();
    assert.equal(await other.getByRole("link", { name: "People" }).count(), 0);
    await other.context().close();
  });
});
