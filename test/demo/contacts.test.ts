import assert from "node:assert/strict";
import { startDemoApplication, type DemoApplication } from "../../src/demo/application.ts";
import { CONTACTS } from "../../src/demo/address-book.ts";
import { PEOPLE } from "../../src/demo/people.ts";
import { createDemoStore } from "../../src/demo/store.ts";

describe("demo application: contacts", () => {
  let app: DemoApplication;
  beforeEach(async () => {
    app = await startDemoApplication({ port: 0, eventInterval: 1 });
  });
  afterEach(async () => {
    await app.close();
  });

  const get = (path: string, init?: RequestInit) => fetch(`${app.url}/api/customers/${path}`, init);
  const of = (customer: string) => CONTACTS.filter(({ customer_id }) => customer_id === customer);

  it("gives all contacts of a customer, and all there is to know of them", async () => {
    const answer = await get("c-1/contacts");
    assert.deepEqual(await answer.json(), { contacts: of("c-1"), total: 2 });
    assert.equal((await get("c-99/contacts")).status, 404);
  });

  it("gives them as lines of JSON", async () => {
    const answer = await get("c-2/contacts/export");
    assert.match(answer.headers.get("content-type")!, /^application\/x-ndjson/);
    const lines = (await answer.text()).split("\n");
    assert.equal(lines.pop(), "");
    assert.deepEqual(
      lines.map((line) => JSON.parse(line) as unknown),
      of("c-2"),
    );
  });

  it("gives them as events, as many as asked for, in turn", async () => {
    const answer = await get("c-1/contacts/calls?events=3");
    assert.match(answer.headers.get("content-type")!, /^text\/event-stream/);
    const [first, second] = of("c-1");
    const event = (id: number, contact: unknown) =>
      `event: call\nid: ${id}\ndata: ${JSON.stringify({ call: id + 1, contact })}\n\n`;
    assert.equal(await answer.text(), event(0, first) + event(1, second) + event(2, first));
    for (const events of ["0", "x", "1.5", "1&events=2"])
      assert.equal((await get(`c-1/contacts/calls?events=${events}`)).status, 400, events);
  });

  it("sends events until the caller goes, and goes on itself", async () => {
    const caller = new AbortController();
    const answer = await get("c-1/contacts/calls", { signal: caller.signal });
    let text = "";
    await assert.rejects(async () => {
      for await (const chunk of answer.body!.pipeThrough(new TextDecoderStream())) {
        text += chunk;
        if (text.includes("id: 4")) caller.abort();
      }
    }, /abort/);
    assert.equal((await get("c-1")).status, 200);
  });

  it("gives one contact, and says too much of one that is somebody else's", async () => {
    const [first] = of("c-1");
    assert.deepEqual(await (await get("c-1/contacts/k-1")).json(), first);
    const moved = await get("c-2/contacts/k-1");
    assert.equal(moved.status, 410);
    assert.deepEqual(await moved.json(), {
      error: "the contact has moved to another customer",
      contact: first,
    });
    assert.equal((await get("c-1/contacts/k-99")).status, 404);
    assert.equal((await get("c-99/contacts/k-1")).status, 404);
  });

  it("have every customer, an owner who exists, and values of their own", () => {
    const customers = [...createDemoStore().customers.keys()];
    assert.deepEqual([...new Set(CONTACTS.map(({ customer_id }) => customer_id))], customers);
    const people = new Set(PEOPLE.map(({ id }) => id));
    for (const { owner, card_number } of CONTACTS) {
      assert.ok(people.has(owner), owner);
      assert.match(String(card_number), /^\d{16}$/);
    }
    for (const key of ["id", "email", "ssn", "card_number"] as const)
      assert.equal(new Set(CONTACTS.map((contact) => contact[key])).size, CONTACTS.length, key);
  });
});
