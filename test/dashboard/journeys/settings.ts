import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { eventually } from "../../support/eventually.ts";
import { makeKey, PASSWORD } from "../../support/guarded-control.ts";
import type { IdentityProvider } from "../../support/providers/identity-provider.ts";
import { idTokenOf } from "../../support/providers/id-token.ts";
import { problemsOf, tabTo } from "../support.ts";
import { MARKUP, type Journey } from "./journey.ts";

/** People, the tests of providers, the trail, and what gateways say. */
export function settings(
  { bench, page, api, button, dialog, said }: Journey,
  provider: () => IdentityProvider,
): void {
  const ask = async (method: string, path: string, body?: object): Promise<Record<string, unknown>> => {
    const answer = await api(method, path, body);
    assert.ok(answer.status < 300, answer.text);
    return answer.body.data as Record<string, unknown>;
  };

  let customer = "";
  before(async () => {
    customer = String((await ask("POST", "/customers", { name: "Acme" }))["id"]);
    await page().goto("/settings");
  });

  it("invites somebody by keyboard alone, who sets a password and signs in", async () => {
    await button("Invite somebody").waitFor();
    await tabTo(page(), "Invite somebody");
    await page().keyboard.press("Enter");
    await dialog().waitFor();
    await tabTo(page(), "E-mail address");
    await page().keyboard.type("ines@example.com");
    await tabTo(page(), "Name");
    await page().keyboard.type("Ines");
    await tabTo(page(), "Role");
    await page().keyboard.press("ArrowDown");
    await page().keyboard.press("Enter");
    await tabTo(page(), "Invite somebody");
    await page().keyboard.press("Enter");
    await page().getByRole("heading", { name: "Copy the invitation link now" }).waitFor();
    assert.deepEqual(await problemsOf(page()), []);
    const link = (await dialog().locator("code").textContent()) ?? "";
    await button("I have copied it").click();
    await page().getByRole("cell", { name: "invited" }).waitFor();
    assert.ok(!(await page().content()).includes(new URL(link).searchParams.get("token") ?? link));
    const other = await bench().open(link);
    await other.getByLabel("Password").fill(PASSWORD);
    await other.getByRole("button").click();
    await other.getByRole("link", { name: "Sign in" }).click();
    await bench().signIn(other, "ines@example.com");
    await page().goto("/settings");
    await button("Change role of ines@example.com").click();
    await page().getByLabel("Role", { exact: true }).selectOption("viewer");
    await dialog().getByRole("button", { name: "Change role" }).click();
    await page().getByRole("status").getByText("Role changed").waitFor();
    // of somebody who was changed meanwhile, both versions are shown first
    await button("Change role of ines@example.com").click();
    const ines = await bench()
      .control.context.db("dashboard_users")
      .where({ email: "ines@example.com" })
      .first<{ id: string } | undefined>("id");
    await ask("PUT", `/dashboard/users/${ines?.id ?? ""}`, { name: MARKUP });
    await dialog().getByRole("button", { name: "Change role" }).click();
    await dialog().getByRole("row", { name: /^name/ }).getByText(JSON.stringify(MARKUP)).waitFor();
    assert.deepEqual(await problemsOf(page()), []);
    await button("Show it as it is now").click();
    await page().getByRole("cell", { name: MARKUP }).waitFor();
    await other.goto("/settings");
    await other.getByRole("heading", { name: "Change the password" }).waitFor();
    assert.equal(await other.getByRole("button", { name: "Invite somebody" }).count(), 0);
    await button("Remove ines@example.com").click();
    await dialog().getByRole("button", { name: "Remove" }).click();
    await page().getByRole("status").getByText("Person removed").waitFor();
    await other.getByLabel("Current password").fill(PASSWORD);
    await other.getByLabel("New password").fill(`${PASSWORD}!`);
    await other.getByRole("main").getByRole("button", { name: "Change the password" }).click();
    await other.getByText("Your session has ended").waitFor();
    await other.context().close();
  });

  it("shows what is wrong with a password, and the health of the system", async () => {
    await page().getByRole("link", { name: "Your account" }).click();
    await page().getByLabel("Current password").fill("wrong");
    await page().getByLabel("New password").fill(`${PASSWORD}!`);
    await page().getByRole("main").getByRole("button", { name: "Change the password" }).click();
    await page().locator(".problem").first().waitFor();
    await page().getByRole("link", { name: "System" }).click();
    await page().getByRole("cell", { name: "database" }).waitFor();
    await page().getByRole("cell", { name: "Management" }).waitFor();
    assert.ok((await page().getByRole("link", { name: "/.well-known/jwks.json" }).count()) === 1);
  });

  it("tests a provider step by step, and shows whom a token would sign in", async () => {
    await ask("POST", `/customers/${customer}/idp`, {
      ...{ type: "oidc", domain: provider().issuer, client_id: provider().clientId, client_secret: "wrong" },
      claims: { role: "role" },
    });
    await page().goto(`/customers/${customer}?tab=provider`);
    await button("Test the connection").click();
    const token = ["{}", JSON.stringify({ sub: "u-1", name: MARKUP, role: "admin" }), ""]
      .map((part) => Buffer.from(part).toString("base64url"))
      .join(".");
    await page().getByLabel("ID token").fill(token);
    await button("Run the test").click();
    await dialog().getByText("invalid_client").waitFor();
    assert.equal(await dialog().getByText("passed").count(), 6);
    await dialog().getByText(MARKUP).waitFor();
    await dialog().getByText("Not permitted by the customer's lists").waitFor();
    assert.deepEqual(await problemsOf(page()), []);
    await ask("POST", `/customers/${customer}/idp`, {
      ...{ type: "oidc", domain: provider().issuer, client_id: provider().clientId },
      client_secret: provider().clientSecret,
      claims: { role: "role" },
    });
    // the token of a real sign-in
    provider().users.set("bob", { claims: { email: "bob@acme.example", name: "Bob", role: "auditor" } });
    const real = await idTokenOf(provider(), "bob", `${bench().control.url}/v1/auth/callback`);
    await page().getByLabel("ID token").fill(real);
    await button("Run the test").click();
    await eventually("all steps", async () => (await dialog().getByText("passed").count()) === 7);
    await dialog().getByText("bob@acme.example").waitFor();
    await dialog().getByText("auditor").first().waitFor();
    assert.ok(!(await page().content()).includes(real));
    await button("Close").click();
  });

  it("stops the test of a provider that does not answer", async () => {
    const silent = createServer();
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const domain = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const { id } = await ask("POST", "/customers", { name: "Silent" });
    await ask("POST", `/customers/${String(id)}/idp`, {
      ...{ type: "oidc", domain, client_id: "client", client_secret: "secret", verify: false },
    });
    await page().goto(`/customers/${String(id)}?tab=provider`);
    await button("Test the connection").click();
    const ended = page().waitForEvent("requestfailed", (request) => request.url().endsWith("/idp/test"));
    await button("Run the test").click();
    await dialog().getByRole("status").getByText("The provider is asked").waitFor();
    assert.deepEqual(await problemsOf(page()), []);
    await dialog().getByRole("button", { name: "Cancel" }).click();
    assert.match((await ended).failure()?.errorText ?? "", /ABORTED/);
    await said("Test cancelled");
    await button("Close").click();
    silent.closeAllConnections();
    await new Promise((resolve) => silent.close(resolve));
  });

  it("shows both versions where somebody else was faster", async () => {
    await page().goto(`/customers/${customer}`);
    await button("Suspend").click();
    await ask("PUT", `/customers/${customer}`, { name: "Acme Incorporated" });
    await dialog().getByRole("button", { name: "Suspend" }).click();
    const row = dialog().getByRole("row", { name: /^name/ });
    await row.getByText('"Acme"', { exact: true }).waitFor();
    await row.getByText('"Acme Incorporated"').waitFor();
    assert.deepEqual(await problemsOf(page()), []);
    await button("Show it as it is now").click();
    await page().getByRole("heading", { name: "Acme Incorporated" }).waitFor();
  });

  it("shows both versions of an identity provider, and lets one choose", async () => {
    const path = `/customers/${customer}/idp`;
    const theirs = (client_id: string) =>
      ask("POST", path, {
        ...{ type: "oidc", domain: provider().issuer, client_id, client_secret: "s3cret", verify: false },
      });
    const fill = async (client: string) => {
      await dialog().getByLabel("Client id").fill(client);
      await dialog().getByLabel("Client secret").fill("n0t-shown");
      await dialog().getByLabel("Verify the provider before saving").uncheck();
      await dialog().getByRole("button", { name: "Save" }).click();
      await dialog().getByText("Somebody else has changed this identity provider").waitFor();
    };
    await page().goto(`/customers/${customer}?tab=provider`);
    await button("Replace").click();
    await theirs("theirs");
    await fill("mine");
    const row = dialog().getByRole("row", { name: /^client_id/ });
    assert.deepEqual(await row.getByRole("cell").allTextContents(), ['"mine"', '"theirs"']);
    assert.ok(!(await page().content()).includes("n0t-shown"));
    assert.deepEqual(await problemsOf(page()), []);
    await button("Continue with theirs").click();
    assert.equal(await dialog().getByLabel("Client id").inputValue(), "theirs");
    await theirs("theirs again");
    await fill("agreed");
    await button("Save yours over theirs").click();
    await said("Identity provider saved");
    assert.equal((await ask("GET", path))["client_id"], "agreed");
    await button("Remove the identity provider").click();
    await theirs("theirs");
    await dialog().getByRole("button", { name: "Remove the identity provider" }).click();
    await dialog()
      .getByRole("row", { name: /^client_id/ })
      .getByText('"theirs"')
      .waitFor();
    await button("Show it as it is now").click();
    await page().getByText("theirs", { exact: true }).waitFor();
  });

  it("shows both versions of a webhook before it is disabled or deleted", async () => {
    const { id } = await ask("POST", "/webhooks", { url: "http://127.0.0.1:9/both", events: ["*"] });
    const path = `/webhooks/${String(id)}`;
    await page().goto(path);
    for (const [action, events] of [
      ["Disable", ["user.deleted"]],
      ["Delete", ["customer.created"]],
    ] as const) {
      await button(action).click();
      await ask("PUT", path, { events });
      await dialog().getByText("This changes Production.").waitFor();
      await dialog().getByRole("button", { name: action }).click();
      await dialog()
        .getByRole("row", { name: /^events/ })
        .getByText(JSON.stringify(events), { exact: true })
        .waitFor();
      assert.deepEqual(await problemsOf(page()), []);
      await button("Show it as it is now").click();
      await page().getByText(events[0], { exact: true }).waitFor();
    }
    await button("Disable").click();
    await dialog().getByRole("button", { name: "Disable" }).click();
    await page().getByText("disabled", { exact: true }).waitFor();
    await button("Enable").click();
    await dialog().getByRole("button", { name: "Enable" }).click();
    await page().getByText("enabled", { exact: true }).waitFor();
  });

  it("shows a change before and after, follows the trail, and exports it", async () => {
    await page().goto(`/audit?kind=change&action=customer.updated&customer_id=${customer}`);
    await page()
      .getByRole("button", { name: /^Show record/ })
      .click();
    await dialog().getByRole("row", { name: /^name/ }).getByText('"Acme Incorporated"').waitFor();
    await button("Close").click();
    await page().getByLabel("Live").check();
    assert.equal(new URL(page().url()).searchParams.get("live"), "1");
    await ask("PUT", `/customers/${customer}`, { name: "Acme" });
    await eventually("the second change", async () => (await page().getByRole("row").count()) === 3);
    const [download] = await Promise.all([page().waitForEvent("download"), button("Export").click()]);
    const lines = (await readFile(await download.path(), "utf8")).trim().split("\n");
    assert.deepEqual(
      lines.map((line) => (JSON.parse(line) as { action: string }).action),
      ["customer.updated", "customer.updated"],
    );
    await page().getByRole("status").getByText("Exported: 2 records").waitFor();
  });

  it("stops an export that is cancelled, and saves nothing of it", async () => {
    let files = 0;
    page().on("download", () => (files += 1));
    const isExport = (url: URL) => url.searchParams.get("format") === "ndjson";
    // it hangs until it is cancelled
    await page().route(isExport, () => undefined);
    const ended = page().waitForEvent("requestfailed", (request) => isExport(new URL(request.url())));
    await button("Export").click();
    await page().getByText("Records read: 0").waitFor();
    assert.deepEqual(await problemsOf(page()), []);
    await button("Cancel").click();
    assert.match((await ended).failure()?.errorText ?? "", /ABORTED/);
    await said("Export cancelled");
    await page().unroute(isExport);
    await button("Export").waitFor();
    assert.equal(files, 0);
  });

  it("shows what a gateway says of itself as text", async () => {
    const { secret } = await makeKey(bench().control, { name: "edge", scope: "gateway" });
    const sent = new Date().toISOString();
    const registered = await bench().control.request("POST", "/gateway/registration", {
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
    await bench()
      .control.context.db("gateways")
      .update({ name: MARKUP, address: MARKUP, version: MARKUP, policy_set: MARKUP });
    await page().goto("/gateways");
    await page()
      .getByRole("button", { name: /^Details of/ })
      .click();
    await dialog().getByText("Enforces it since").waitFor();
    assert.ok((await dialog().getByText(MARKUP).count()) >= 3);
    assert.deepEqual(await problemsOf(page()), []);
    assert.equal(await page().evaluate("globalThis.hit"), undefined);
  });
}
