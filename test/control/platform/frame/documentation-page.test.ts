import assert from "node:assert/strict";
import { startWholeControl, type WholeControl } from "../../../support/whole-control.ts";
import {
  documentationPage,
  type DocumentedApi,
} from "../../../../src/control/platform/frame/documentation-page.ts";

describe("/docs", () => {
  let control: WholeControl;
  let document: DocumentedApi;
  let html: string;
  let answer: Response;

  before(async () => {
    control = await startWholeControl();
    document = (await (await fetch(`${control.url}/v1/openapi.json`)).json()) as DocumentedApi;
    answer = await fetch(`${control.url}/docs`);
    html = await answer.text();
  });
  after(() => control.close());

  const text = (fragment: string) =>
    fragment
      .replaceAll(/<[^>]*>/g, "")
      .replaceAll("&quot;", '"')
      .replaceAll("&#39;", "'")
      .replaceAll("&lt;", "<")
      .replaceAll("&gt;", ">")
      .replaceAll("&amp;", "&");

  it("shows every operation with its parameters, members and answers", () => {
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    );
    assert.ok(operations.length > 50);
    for (const { path, method, operation } of operations) {
      const [, after = ""] = html.split(`<details id="${operation.operationId}">`);
      const [part = ""] = after.split("</details>");
      const shown = text(part);
      assert.ok(
        shown.startsWith(`${method.toUpperCase()} ${path} ${operation.summary}`),
        shown.slice(0, 200),
      );
      for (const { name } of operation.parameters ?? []) assert.ok(shown.includes(name), `${path} ${name}`);
      for (const status of Object.keys(operation.responses))
        assert.ok(shown.includes(status), `${path} ${status}`);
      const { schema } = operation.requestBody?.content["application/json"] ?? {};
      for (const name of Object.keys(schema?.["properties"] ?? {}))
        assert.ok(part.includes(`<code>${name}</code>`), `${path} ${name}`);
    }
    for (const name of Object.keys(document.components.schemas))
      assert.ok(html.includes(`<details id="schema-${name}">`), name);
  });

  it("is well-formed, leads nowhere else, and runs nothing", async () => {
    assert.equal(answer.headers.get("content-type"), "text/html; charset=utf-8");
    const policy = answer.headers.get("content-security-policy") ?? "";
    assert.match(policy, /^default-src 'none'; style-src 'self'; /);
    assert.doesNotMatch(policy, /unsafe|script-src|https?:/);
    assert.doesNotMatch(html, /<script|\son\w+=|\sstyle=|javascript:/i);
    const ids = new Set([...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id));
    assert.equal(ids.size, [...html.matchAll(/ id="/g)].length);
    for (const [, target = ""] of html.matchAll(/(?:src|href)="([^"]*)"/g)) {
      if (target.startsWith("#")) assert.ok(ids.has(target.slice(1)), target);
      else assert.equal((await fetch(`${control.url}${target}`)).status, 200, target);
    }
    const open: string[] = [];
    for (const [tag, end, name = ""] of html.matchAll(/<(\/?)([a-z0-9]+)[^>]*>/g)) {
      if (["meta", "link"].includes(name)) continue;
      if (end === "/") assert.equal(open.pop(), name, tag);
      else open.push(name);
    }
    assert.deepEqual(open, []);
  });

  it("shows what the document says as text", () => {
    const evil = `<img src=x onerror=alert(1)> & "quoted" 'too'`;
    const page = documentationPage({
      info: { title: evil, summary: evil },
      servers: [{ url: evil }],
      tags: [{ name: evil, description: evil }],
      paths: {
        [evil]: {
          get: {
            ...{ operationId: evil, summary: evil, description: evil, tags: [evil] },
            parameters: [
              { name: evil, in: "query", required: true, description: evil, schema: { const: evil } },
            ],
            requestBody: {
              required: true,
              content: { [evil]: { schema: { properties: { [evil]: { $ref: evil } }, required: [evil] } } },
            },
            responses: { 200: { description: evil, content: {} } },
          },
        },
      },
      components: { schemas: { [evil]: { type: "string", description: evil, enum: [evil] } } },
    });
    assert.doesNotMatch(page, /<img/);
    assert.ok(!/="[^"]*<[^"]*"/.test(page));
    assert.ok(text(page).includes(evil));
  });
});
