import assert from "node:assert/strict";
import { fragmentOf } from "../../../dashboard/src/explain/link.ts";
import { EMPTY_EXAMPLE } from "../../../dashboard/src/core/explain-protocol.ts";
import { problemsOf } from "../support.ts";
import { MARKUP, type Journey } from "./journey.ts";

const POLICIES = `policies:
  - { name: Orders of one's own, resource: "GET /orders/{id}", condition: user.role == "clerk" }
  - { name: ${JSON.stringify(MARKUP)}, resource: "POST /orders/{id}", condition: exists(user.id) }
  - { resource: "GET /invoices/{id}", condition: exists(user.id) }
websocket_policies:
  - connection: { path: /ws, condition: exists(user.id) }
    message_types:
      - { name: own-room, type: join, condition: message.room == "lobby" }
      - type: news
        direction: receive
        condition: exists(user.id)
        fields: [{ name: author, condition: user.role == "admin", mask_type: full }]
`;

/** What the page says beside the verdict. */
export function explainedParts({ page, button, heading }: Journey): void {
  const explained = async (changes: Partial<typeof EMPTY_EXAMPLE>) => {
    const user = JSON.stringify({ id: "u-1", role: "guest" });
    const example = { ...EMPTY_EXAMPLE, user, ...changes };
    await page().goto("about:blank");
    await page().goto(`/explain#${fragmentOf({ set: { kind: "pasted", text: POLICIES }, example })}`);
    await page().locator(".verdict").waitFor();
  };
  const part = (title: string) =>
    page()
      .locator("section.card")
      .filter({ has: page().getByRole("heading", { name: title, exact: true }) });

  it("names the rules that nearly match, and what each of them misses", async () => {
    await explained({ line: "PUT /orders/7" });
    const near = part("Rules that nearly match").getByRole("listitem");
    await near.filter({ hasText: MARKUP }).getByText("is for POST, the request is PUT").waitFor();
    await near
      .filter({ hasText: "Orders of one's own" })
      .getByText("is for GET, the request is PUT")
      .waitFor();
    await explained({ line: "GET /order/7" });
    await near
      .getByText(/orders.*order/)
      .first()
      .waitFor();
    assert.deepEqual(await problemsOf(page()), []);
  });

  it("says what becomes of each message of a connection, and by which rule", async () => {
    const headers =
      "Connection: Upgrade\nUpgrade: websocket\nSec-WebSocket-Version: 13\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";
    const messages = [
      '> {"type":"join","room":"lobby"}',
      '> {"type":"join","room":"office"}',
      '> {"type":"leave"}',
      `< {"type":"news","text":${JSON.stringify(MARKUP)},"author":"Ada"}`,
    ].join("\n");
    await explained({ line: "GET /ws", headers, messages });
    await heading("The client's message");
    const all = page()
      .locator("section.card")
      .filter({ has: page().getByRole("heading", { name: /message/ }) });
    assert.equal(await all.count(), 4);
    const [first, second, third, received] = [0, 1, 2, 3].map((index) => all.nth(index));
    await first?.getByText(/^is delivered/).waitFor();
    await first?.getByText("own-room").first().waitFor();
    await second?.getByText(/^is not delivered/).waitFor();
    await second?.getByText('message.room == "lobby"').first().waitFor();
    await second?.getByText('"office"').first().waitFor();
    await third?.getByText(/^is not delivered/).waitFor();
    await received?.getByText("<img src=x").first().waitFor();
    assert.deepEqual(await problemsOf(page()), []);
    await button("Explain").waitFor();
  });
}
