import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { buildDashboard } from "../../dashboard/build.ts";
import { dashboardRouter, DASHBOARD_PAGES } from "../../src/control/dashboard/router.ts";
import { startControl, type RunningControl } from "../support/control.ts";

const ASSETS = new URL("../../dashboard/dist/assets/", import.meta.url);
/** Bytes of script and style, as they are sent. Whatever is not in the first is loaded when its page is opened. */
const PARTS = [
  { part: "shell", names: /^(?:index|icon)-/, budget: 60_000 },
  {
    part: "policies and policy sets",
    names: /^(?:policy|policy-sets|list|set|form|conflict|drafts)-/,
    budget: 25_000,
  },
  // CodeMirror, and what it knows of policy files
  { part: "editor", names: /^(?:edit|roots)-/, budget: 165_000 },
  { part: "explain", names: /^explain-/, budget: 20_000 },
  { part: "settings", names: /^settings-/, budget: 10_000 },
  // compiler, decisions and explanations, which the gateway runs, too
  { part: "policy core", names: /^worker-/, budget: 230_000 },
];

const BROWSER = { accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" };

describe("the dashboard, as it is served", () => {
  let control: RunningControl;
  before(async () => {
    await buildDashboard();
    control = await startControl({
      settings: { environment: "sandbox" },
      beside: (context) => [dashboardRouter(context)],
    });
  });
  after(() => control.close());

  it("stays within its budgets", () => {
    const sizes = new Map<string, number>();
    for (const name of readdirSync(ASSETS)) {
      const size = gzipSync(readFileSync(new URL(name, ASSETS))).length;
      const part = PARTS.find(({ names }) => names.test(name))?.part ?? `unknown part: ${name}`;
      sizes.set(part, (sizes.get(part) ?? 0) + size);
    }
    for (const { part, budget } of PARTS)
      assert.ok(
        (sizes.get(part) ?? Infinity) < budget,
        `${part}: ${String(sizes.get(part))} of ${budget} bytes`,
      );
    assert.deepEqual([...sizes.keys()].sort(), PARTS.map(({ part }) => part).sort());
  });

  it("gives a worker nothing to reach", async () => {
    const worker = readdirSync(ASSETS).find((name) => name.startsWith("worker-")) ?? "";
    const answer = await fetch(`${control.url}/assets/${worker}`);
    // its own script brings its policy: no requests, no text as code
    const policy = answer.headers.get("content-security-policy") ?? "";
    assert.match(policy, /^default-src 'none'/);
    assert.doesNotMatch(policy, /connect-src|unsafe/);
    await answer.body?.cancel();
  });

  it("is one page without anything inline, in no frame, from no other host, and asked for each time", async () => {
    for (const path of DASHBOARD_PAGES) {
      const answer = await fetch(control.url + path.replace(":id", "cus_1"), { headers: BROWSER });
      const html = await answer.text();
      assert.equal(answer.status, 200, path);
      assert.match(answer.headers.get("content-type") ?? "", /^text\/html/);
      assert.equal(answer.headers.get("cache-control"), "no-cache");
      assert.equal(answer.headers.get("x-content-type-options"), "nosniff");
      assert.equal(answer.headers.get("referrer-policy"), "no-referrer");
      const policy = answer.headers.get("content-security-policy") ?? "";
      for (const directive of [
        "default-src 'none'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "script-src 'self'",
      ])
        assert.ok(policy.includes(directive), directive);
      assert.doesNotMatch(policy, /unsafe|\*|https?:/);
      assert.doesNotMatch(html, /<script(?![^>]*\ssrc="\/assets\/)|<style|\sstyle=|\son\w+=/);
      assert.doesNotMatch(html, /(?:src|href)="(?!\/(?!\/))/);
      assert.match(html, /<html[^>]* data-environment="sandbox"/);
    }
  });

  it("lets caches keep what never changes", async () => {
    for (const name of readdirSync(ASSETS)) {
      const answer = await fetch(`${control.url}/assets/${name}`);
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get("cache-control"), "public, max-age=31536000, immutable");
      assert.equal(answer.headers.get("content-encoding"), "gzip");
      // of a worker, this is all that it may do: run, and send nothing
      assert.match(
        answer.headers.get("content-security-policy") ?? "",
        /^default-src 'none'; script-src 'self';/,
      );
      assert.equal(await answer.text(), readFileSync(new URL(name, ASSETS), "utf8"));
    }
    const plain = await fetch(`${control.url}/assets/${readdirSync(ASSETS)[0]}`, {
      headers: { "accept-encoding": "identity" },
    });
    assert.equal(plain.headers.get("content-encoding"), null);
  });

  it("leaves all other paths what they were", async () => {
    for (const path of [
      "/nothing",
      "/customers/a/b",
      "/customers/",
      "/KEYS",
      "/assets/",
      "/assets/nothing.js",
      "/assets/..%2findex.html",
      "/assets/..%2f..%2fpackage.json",
      "/index.html",
      "/built-from.txt",
      "/v1/nothing",
    ]) {
      const answer = await fetch(control.url + path, { headers: BROWSER });
      assert.ok([401, 404].includes(answer.status), `${path}: ${answer.status}`);
      assert.match(answer.headers.get("content-type") ?? "", /^application\/json/, path);
    }
    const posted = await fetch(`${control.url}/customers`, { method: "POST" });
    assert.equal(posted.status, 404);
  });

  it("refuses paths that cannot be decoded, without taking them for a defect", async () => {
    for (const path of [
      "/customers/%ff",
      "/customers/%",
      "/webhooks/%c3%28",
      "/assets/%ff",
      "/idp/%ff",
      "/%e0%a4%a",
    ])
      for (const method of ["GET", "HEAD", "POST"]) {
        const answer = await fetch(control.url + path, { method, headers: BROWSER });
        assert.equal(answer.status, 400, `${method} ${path}`);
        assert.ok(answer.headers.has("x-ratelimit-limit"), `${method} ${path} is counted`);
        const text = await answer.text();
        if (method !== "HEAD") assert.match(text, /INVALID_PARAMETER/);
      }
  });

  it("is no answer to a client of the API that forgot `/v1`", async () => {
    for (const path of DASHBOARD_PAGES)
      for (const accept of ["application/json", "*/*", "application/json, text/html;q=0.5"]) {
        const answer = await fetch(control.url + path.replace(":id", "cus_1"), { headers: { accept } });
        assert.equal(answer.status, 404, `${path} ${accept}`);
        assert.match(answer.headers.get("vary") ?? "", /\baccept\b/i);
        await answer.body?.cancel();
      }
  });

  it("is absent, and says so in the log, where it is not built", () => {
    const said: string[] = [];
    const log = { ...control.context.log, warn: (text: string) => void said.push(text) };
    const context = { settings: control.context.settings, log: log as unknown as typeof control.context.log };
    assert.equal(dashboardRouter(context, "/nowhere").stack.length, 0);
    assert.deepEqual(said, ["the dashboard is not built: in a checkout, run `make dashboard`"]);
    assert.ok(dashboardRouter(context).stack.length > 0);
  });
});
