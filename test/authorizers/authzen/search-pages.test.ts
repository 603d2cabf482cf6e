import assert from "node:assert/strict";
import { snapshotOf, useIssuer } from "../../decision/support.ts";
import { subject, useAuthzen } from "./support/authzen.ts";

describe("authorizers: pages of searches", () => {
  const open = useAuthzen(useIssuer());

  it("finds resources page by page, in one policy set, and ends a page early rather than late", async () => {
    const many = (count: number) =>
      snapshotOf(
        `policies:\n${Array.from({ length: count }, (_, index) => `  - { resource: "GET /r${index}", condition: "true" }\n`).join("")}`,
      );
    const set = many(250);
    const body = (token?: string) => ({
      subject,
      action: { name: "GET" },
      resource: { type: "route" },
      ...(token !== undefined && { page: { token } }),
    });
    const { ask } = open(set);
    const seen: string[] = [];
    const sizes: number[] = [];
    let token: string | undefined;
    do {
      const { json } = await ask("/access/v1/search/resource", body(token));
      const { results, page } = json as { results: { id: string }[]; page: { next_token: string } };
      seen.push(...results.map(({ id }) => id));
      sizes.push(results.length);
      token = page.next_token;
    } while (token !== "");
    assert.deepEqual(sizes, [100, 100, 50]);
    assert.equal(new Set(seen).size, 250);
    const late = await ask("/access/v1/search/resource", body(), { deadline: Date.now() - 1 });
    const { results, page } = late.json as { results: object[]; page: { next_token: string } };
    assert.deepEqual(results, []);
    const again = await ask("/access/v1/search/resource", body(page.next_token));
    assert.equal((again.json as { results: { id: string }[] }).results[0]?.id, "/r0");
    const changed = await open(many(251)).ask("/access/v1/search/resource", body(page.next_token));
    assert.equal(changed.status, 400);
    assert.match(changed.body, /candidates have changed/);
    assert.equal((await ask("/access/v1/search/resource", body("x"))).status, 400);
  });

  it("a page has at most as many results as the caller wants", async () => {
    const { ask } = open();
    const body = (page: object) => ({ subject, resource: { type: "document", id: "1" }, page });
    const seen: string[] = [];
    let page: object = { limit: 2 };
    for (;;) {
      const { json } = await ask("/access/v1/search/action", body(page));
      const { results, page: next } = json as { results: { name: string }[]; page: { next_token: string } };
      assert.ok(results.length <= 2);
      seen.push(...results.map(({ name }) => name));
      if (next.next_token === "") break;
      // the limit is that of the first request, said again or not
      page = { token: next.next_token, ...(seen.length > 2 && { limit: 2 }) };
    }
    assert.deepEqual(seen, ["read", "GET", "HEAD"]);
    for (const limit of [-1, 1.5, "2", null])
      assert.equal((await ask("/access/v1/search/action", body({ limit }))).status, 400, String(limit));
  });

  it("goes on only with the question that a token was given for", async () => {
    const { ask } = open();
    const question = { subject, resource: { type: "document", id: "1" }, context: { a: 1, b: [2] } };
    const first = await ask("/access/v1/search/action", { ...question, page: { limit: 1 } });
    const token = (first.json as { page: { next_token: string } }).page.next_token;
    const go = async (changed: object, page: object = { token }) =>
      ask("/access/v1/search/action", { ...question, ...changed, page });
    assert.equal((await go({})).status, 200);
    // only written in another order
    assert.equal(
      (await go({ context: { b: [2], a: 1 }, subject: { id: subject.id, type: "user" } })).status,
      200,
    );
    for (const [changed, page] of [
      [{ subject: { ...subject, id: "bob" } }],
      [{ subject: { ...subject, properties: { role: "editor" } } }],
      [{ resource: { type: "document", id: "2" } }],
      [{ context: { a: 1, b: [3] } }],
      [{}, { token, limit: 2 }],
    ] as const) {
      const answer = await go(changed, page);
      assert.equal(answer.status, 400, JSON.stringify(changed));
      assert.match(answer.body, /another question/);
    }
    const forResources = await ask("/access/v1/search/resource", {
      ...{ subject, action: { name: "read" }, resource: { type: "route" } },
      page: { token },
    });
    assert.equal(forResources.status, 400);
    const misnamed = await go({}, { next_token: token });
    assert.equal(misnamed.status, 400);
    assert.match(misnamed.body, /`page.token`/);
  });
});
