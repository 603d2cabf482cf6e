import assert from "node:assert/strict";
import { bearer } from "../../support/guarded-control.ts";
import type { WebhookReceiver } from "../../support/webhook-receiver.ts";
import { signedHeaders } from "../../../src/control/resources/webhooks/signature.ts";
import { problemsOf, staysInDialog } from "../support.ts";
import type { Journey } from "./journey.ts";

const DAY_MS = 86_400_000;

/** Secrets that the browser shows once, and that are then used. */
export function secrets(journey: Journey, receiver: () => WebhookReceiver): void {
  const { page, bench, api, button, dialog, heading, press, type, keys } = journey;
  /** Reads the secret that is shown, and puts it away. */
  const stored = async () => {
    const secret = (await dialog().locator("code").textContent()) ?? "";
    assert.deepEqual(await problemsOf(page()), []);
    await press("I have stored it");
    await dialog().waitFor({ state: "detached" });
    assert.ok(!(await page().content()).includes(secret));
    await page().reload();
    return secret;
  };

  it("rolls the secret of a webhook by keyboard alone, and both secrets sign what is sent", async () => {
    const registered = await api("POST", "/webhooks", {
      ...{ url: `${receiver().url}/rolled`, events: ["user.deleted"] },
    });
    const { id, secret: former } = registered.body.data as { id: string; secret: string };
    await page().goto(`/webhooks/${id}`);
    await button("Roll the secret").waitFor();
    await press("Roll the secret");
    await dialog().getByText("This changes Production.").waitFor();
    await staysInDialog(page());
    await press("Roll the secret");
    await heading("Copy the secret now");
    const secret = await stored();
    assert.notEqual(secret, former);
    const before = receiver().received.length;
    await button("Send a test event").waitFor();
    await press("Send a test event");
    const { headers, body } = (await receiver().has(before + 1)).at(-1) ?? {};
    assert.ok(headers !== undefined && body !== undefined);
    const message = {
      id: String(headers["webhook-id"]),
      timestamp: Number(headers["webhook-timestamp"]),
      body,
    };
    const signedBy = (one: string) => signedHeaders(message, [one])["webhook-signature"] ?? "";
    assert.deepEqual(
      new Set(String(headers["webhook-signature"]).split(" ")),
      new Set([signedBy(secret), signedBy(former)]),
    );
  });

  it("generates a key of one customer with an expiry, by keyboard alone; it sees that customer and no other", async () => {
    const [mine, other] = await Promise.all(
      ["Keyholder", "Somebody else"].map(async (name) =>
        String((await api("POST", "/customers", { name })).body.data.id),
      ),
    );
    await page().goto("/keys");
    await button("Generate new key").waitFor();
    await press("Generate new key");
    await dialog().waitFor();
    await type("Name", "of one customer");
    await keys("Scope", "Home");
    await type("Customer", "Keyh");
    // the name is found on the server; browsers fill in the id when it is chosen
    const found = dialog().locator("datalist option");
    await found.and(dialog().locator("[label=Keyholder]")).waitFor({ state: "attached" });
    assert.deepEqual(await found.evaluateAll((all) => all.map((one) => one.getAttribute("value"))), [mine]);
    await page().keyboard.press("Control+a");
    await page().keyboard.insertText(mine ?? "");
    await keys("Expires", "Home");
    await press("Generate new key");
    await heading("Copy the key now");
    const secret = await stored();
    const row = page().getByRole("row", { name: /^of one customer/ });
    await row.getByText(mine ?? "").waitFor();
    const listed = await api("GET", "/api-keys?limit=100");
    const key = (listed.body.data as { name: string; expires_at: string; scope: string }[]).find(
      ({ name }) => name === "of one customer",
    );
    assert.equal(key?.scope, "read_only");
    await row.locator(`time[datetime="${key.expires_at}"]`).waitFor();
    const days = (Date.parse(key.expires_at) - Date.now()) / DAY_MS;
    assert.ok(days > 29 && days <= 30, String(days));
    const asks = (path: string) => bench().control.request("GET", path, { headers: bearer(secret) });
    const customers = (await asks("/customers")).body.data as { id: string }[];
    assert.deepEqual(
      customers.map(({ id }) => id),
      [mine],
    );
    assert.equal((await asks(`/customers/${other ?? ""}`)).status, 404);
  });
}
