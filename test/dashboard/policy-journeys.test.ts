import assert from "node:assert/strict";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { runSuites } from "../../src/cli/run-suites.ts";
import { DEMO_POLICIES } from "../support/demo-policies.ts";
import { eventually } from "../support/eventually.ts";
import { startGateway, type RunningGateway } from "../support/gateway.ts";
import { makeKey, makePerson, type Person } from "../support/guarded-control.ts";
import { startIssuer, type TestIssuer } from "../support/providers/issuer.ts";
import { startAnsweringUpstream, type AnsweringUpstream } from "../support/upstreams/answering-upstream.ts";
import { MARKUP, SET, type Journey } from "./policy-journey.ts";
import { requirementJourneys } from "./requirement-journeys.ts";
import { rolloutJourneys } from "./rollout-journeys.ts";
import { DashboardBench, problemsOf, tabTo } from "./support.ts";

const OPEN = `policy_set: ${SET}
version: v1
policies:
  - resource: "GET /open"
    name: ${JSON.stringify(MARKUP)}
    condition: 'request.headers["x-tier"] == "gold" or request.headers["x-tier"] == "silver"'
`;
const SUITE = `policy_set: ${SET}
tests:
  - name: gold is served
    request: { method: GET, path: /open, headers: { x-tier: gold } }
    user: none
    expect: allow
  - name: ${JSON.stringify(MARKUP)}
    request: GET /open
    user: none
    expect: allow
`;

/** In order, as one person would go: each builds on what was made before. */
describe("policies and policy sets in a browser", function () {
  this.timeout(240_000);
  let bench: DashboardBench;
  let upstream: AnsweringUpstream;
  let issuer: TestIssuer;
  let gateway: RunningGateway | undefined;
  let owner: Person;
  let page: Page;
  let customer = "";

  before(async () => {
    [bench, upstream, issuer] = await Promise.all([
      DashboardBench.start(),
      startAnsweringUpstream(),
      startIssuer(),
    ]);
    owner = await bench.owner();
    const made = await api("POST", "/customers", { name: "Acme" });
    customer = made.body.data.id as string;
  });
  after(async () => {
    await gateway?.stop();
    await Promise.all([upstream.close(), issuer.close()]);
    await bench.close();
  });
  afterEach(async () => {
    assert.deepEqual(bench.complaints, []);
    assert.equal(await page.evaluate("globalThis.hit"), undefined);
  });

  const api = (method: string, path: string, body?: object) =>
    bench.control.request(method, path, { headers: owner.headers, ...(body && { body }) });
  const button = (name: string | RegExp) => page.getByRole("button", { name, exact: true });
  const dialog = () => page.getByRole("dialog");
  const inDialog = (name: string) => dialog().getByRole("button", { name, exact: true });
  const heading = (name: string | RegExp) => page.getByRole("heading", { name }).waitFor();
  const editor = () => page.getByRole("textbox", { name: /^Source of/ });
  const said = (text: string | RegExp) => page.getByRole("status").getByText(text).first().waitFor();
  const tab = (name: string) => page.getByRole("link", { name, exact: true }).click();
  const paste = async (text: string) => {
    await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`);
    await page.keyboard.press("Control+v");
  };
  /** Puts a text in place of the file. */
  const write = async (text: string) => {
    await editor().focus();
    await page.keyboard.press("Control+a");
    await paste(text);
  };
  const active = async () => (await api("GET", `/policy-sets/${SET}`)).body.data.active_version as string;
  const answers = async (path: string, status: number, headers: Record<string, string> = {}) => {
    await eventually(`${path}: ${status}`, async () => {
      const response = await fetch(`${gateway?.url}${path}`, { headers });
      await response.arrayBuffer();
      return response.status === status;
    });
  };
  /** An expression of the page becomes true. */
  const until = (expression: string) =>
    eventually(expression, async () => (await page.evaluate(expression)) === true);
  const SILVER = { "x-tier": "silver" };
  const settled = () =>
    eventually("the page", async () => (await page.locator("[aria-busy=true]").count()) === 0);
  /** Takes the first suggestion. */
  const takeSuggestion = async (name: string) => {
    await page.getByRole("option", { name, exact: true }).waitFor();
    // for its first 75 ms the editor takes Enter for a new line, so that nobody takes a suggestion that they have not seen
    await page.waitForTimeout(200);
    await page.keyboard.press("Enter");
  };

  const journey: Journey = {
    ...{ page: () => page, bench: () => bench, customer: () => customer },
    ...{ api, button, dialog, inDialog, heading, said, tab, active, answers },
  };

  it("writes a set by keyboard alone: suggestions, problems as one types, a draft that a reload keeps", async () => {
    page = await bench.open("/policy-sets", { permissions: ["clipboard-read", "clipboard-write"] });
    await bench.signIn(page, owner.email);
    await heading("No policy sets yet");
    await tabTo(page, "New policy set");
    await page.keyboard.press("Enter");
    await tabTo(page, "Name");
    await page.keyboard.type(SET);
    await page.keyboard.press("Enter");
    await editor().waitFor();
    await said("No problems");
    await tabTo(page, "Source of main.yaml");
    await page.keyboard.press("Control+a");
    await paste('policies:\n  - resource: "GET /open"\n    ');
    await page.keyboard.type("cond");
    await takeSuggestion("condition");
    await page.keyboard.type("env.en");
    await takeSuggestion("environment");
    await page.keyboard.type(" = ");
    await page.getByText(/Problems: [1-9]\d* errors/).waitFor();
    assert.ok(await button("Publish").isDisabled());
    await page.keyboard.press("Backspace");
    await paste('= "production"');
    await said("No problems");
    await page.keyboard.press("Tab");
    assert.equal(
      await page.evaluate("document.activeElement.shadowRoot === null"),
      true,
      "Tab leaves the editor",
    );
    await until("Object.values(localStorage).some((text) => text.includes('== \\\\\"prod'))");
    await page.reload();
    await editor().getByText("env.environment").waitFor();
    await page.getByText("This is your draft of a new policy set").waitFor();
  });

  it("publishes and activates it by keyboard alone, and a real gateway enforces it", async () => {
    await said("No problems");
    await tabTo(page, "Publish");
    await page.keyboard.press("Enter");
    await dialog().waitFor();
    await tabTo(page, "Then");
    await page.keyboard.press("ArrowDown");
    await tabTo(page, "Publish");
    await page.keyboard.press("Enter");
    await said("v0 is active");
    assert.equal(await active(), "v0");
    const { secret } = await makeKey(bench.control, { name: "edge", scope: "gateway" });
    gateway = await startGateway({
      backend: upstream.url,
      issuer,
      policies: {},
      config: {
        policies: { source: "control_plane", policy_set: SET, refresh_interval: "1s" },
        control_plane: { url: bench.control.url, api_key: secret },
        audit: { destination: "control_plane" },
      },
    });
    await answers("/open", 200);
    await answers("/closed", 403);
  });

  it("goes from a problem to its place, and formats", async () => {
    await write(OPEN.replace('"gold" or', '"gold"   or  users.x'));
    const problem = page.getByRole("button", { name: /^Go to main\.yaml:6:/ }).first();
    await problem.waitFor();
    await problem.click();
    await until("document.activeElement.shadowRoot?.activeElement.className.includes('cm-content')");
    await write(OPEN.replace(" or ", "   or  "));
    await said("No problems");
    await button("Format").click();
    await said("Formatted");
    await editor().getByText('"gold" or request').waitFor();
  });

  it("runs the tests of a suite in the page, with what they show in the margin", async () => {
    await button("Add a file").click();
    await page.getByLabel("Name of the file").fill("not a file");
    await inDialog("Add a file").click();
    await dialog().getByRole("alert").waitFor();
    await page.getByLabel("Name of the file").fill("edge.test.yaml");
    await page.keyboard.press("Enter");
    await page.getByRole("textbox", { name: "Source of edge.test.yaml" }).waitFor();
    await write(SUITE);
    await button("Run the tests").click();
    await said("1 passed, 1 failed");
    await page
      .getByText("Actual: deny, CONDITION_UNKNOWN")
      .or(page.getByText("Actual: deny, CONDITION_FALSE"))
      .waitFor();
    await page.getByText(`edge.test.yaml:7`).first().waitFor();
    await write(SUITE.replace(/allow\n$/, "deny\n"));
    await page.getByText("The set or its tests have changed since.").waitFor();
    await button("Run the tests").click();
    await said("2 passed, 0 failed");
    await button("main.yaml").click();
    const mark = page.locator('.coverage[title*="policies[0]"]').first();
    await mark.waitFor();
    assert.match((await mark.getAttribute("title")) ?? "", /true 1, false \d, unknown \d/);
    assert.deepEqual(await problemsOf(page), []);
  });

  it("shows what a change means against the active version, and with which request", async () => {
    await button("Compare with the active version").click();
    await heading("What changes against v0");
    const change = page.locator(".change").filter({ hasText: "GET /open" });
    await change.getByText("wider and narrower", { exact: true }).waitFor();
    await change.getByText("Only before the change").click();
    await change.locator("details[open]").getByText("CONDITION_TRUE").first().waitFor();
    await page.locator(".editor").nth(1).getByText("x-tier").first().waitFor();
  });

  it("activates a version from the list, and the gateway answers otherwise; a roll-back undoes it", async () => {
    await button("Publish").click();
    await inDialog("Publish").click();
    await said(`Published ${SET}@v1`);
    await answers("/open", 200);
    await tab("Versions");
    await button("Activate v1").click();
    await dialog().getByText("This changes Production.").waitFor();
    await inDialog("Activate").click();
    await page.getByRole("row", { name: /v1 active/ }).waitFor();
    await answers("/open", 403);
    await answers("/open", 200, SILVER);
    await button("Roll back").click();
    await inDialog("Roll back").click();
    await said("Rolled back to v0");
    await answers("/open", 200);
  });

  it("shows both versions where a version is already published with other content", async () => {
    await tab("Edit");
    await page.goto(`/policy-sets/${SET}?tab=edit&from=v1`);
    await editor().waitFor();
    await write(OPEN.replace(' or request.headers["x-tier"] == "silver"', ""));
    await said("No problems");
    await button("Publish").click();
    await inDialog("Publish").click();
    await heading("v1 is already published with different content");
    await dialog().locator(".editor").getByText("silver").first().waitFor();
    assert.deepEqual(await problemsOf(page), []);
    await page.getByLabel("Next version").fill("v2");
    await inDialog("Publish as v2").click();
    await editor().getByText('"v2"').waitFor();
    await said(`No problems`);
    await page.getByText(`${SET}@v2`).waitFor();
  });

  it("shows what has become active in the meantime, before it activates over it", async () => {
    await button("Publish").click();
    await page.getByLabel("Then").selectOption("activate");
    await api("POST", `/policy-sets/${SET}/activate`, { version: "v1" });
    await inDialog("Publish").click();
    await heading("Another version was activated in the meantime");
    await dialog().getByText("v1 is active now").waitFor();
    await dialog().locator(".change").getByText("narrower", { exact: true }).waitFor();
    assert.deepEqual(await problemsOf(page), []);
    assert.equal(await active(), "v1");
    await dialog().getByRole("button", { name: "Cancel" }).click();
    assert.equal((await api("GET", `/policy-sets/${SET}/versions/v2`)).status, 200);
  });

  it("shows what was seen and what is, where a page is stale", async () => {
    await tab("Versions");
    await page.getByRole("row", { name: /v1 active/ }).waitFor();
    await api("POST", `/policy-sets/${SET}/activate`, { version: "v0" });
    await button("Roll back").click();
    await inDialog("Roll back").click();
    await heading("The policy set has changed in the meantime");
    const row = dialog().getByRole("row", { name: /^Active version/ });
    assert.deepEqual(await row.getByRole("cell").allTextContents(), ["v1", "v0"]);
    assert.deepEqual(await problemsOf(page), []);
    await inDialog("Show it as it is now").click();
    await page.getByRole("row", { name: /v0 active/ }).waitFor();
    await api("POST", `/policy-sets/${SET}/activate`, { version: "v1" });
    await answers("/open", 200, SILVER);
    await answers("/open", 403);
  });

  rolloutJourneys(journey);

  it("decides the delivered suites in the page as the command line does", async () => {
    const delivered = (name: string) => join(DEMO_POLICIES, name);
    const [expected] = await runSuites(DEMO_POLICIES, ["default.test.yaml"]);
    await page.goto("/policy-sets/default?tab=edit&new=1");
    await editor().waitFor();
    await page
      .getByLabel("Open files")
      .setInputFiles(["default.yaml", "demo.graphql", "default.test.yaml"].map(delivered));
    await button("default.test.yaml").waitFor();
    await button("main.yaml").click();
    await button("Remove main.yaml").click();
    await inDialog("Remove").click();
    await said("No problems");
    await button("Run the tests").click();
    await said(`${expected?.cases.length} passed, 0 failed`);
    const gaps =
      expected?.coverage.filter((one) => !one.constant && (one.true === 0 || one.false === 0)) ?? [];
    await page.getByText(`What the tests do not show (${gaps.length})`).waitFor();
    await button("Discard the draft").click();
    await inDialog("Discard the draft").click();
    await heading("Policy sets");
    assert.equal(await page.getByRole("link", { name: "default", exact: true }).count(), 0);
  });

  requirementJourneys(journey);

  const paths = () => [
    ...[
      "/policies",
      page.url().replace(bench.control.url, ""),
      "/policies?name=nobody",
      "/policies/pol_nobody",
    ],
    ...["/policy-sets", `/policy-sets/${SET}`, "/policy-sets/none", "/policy-sets/fresh?tab=edit&new=1"],
    ...[`edit&from=v1&compare=1`, "rollout", "history"].map((name) => `/policy-sets/${SET}?tab=${name}`),
  ];

  it("has nothing that axe finds, on any page, in either theme, and fits a phone", async () => {
    const all = paths();
    for (const path of all) {
      await page.goto(path);
      await page.locator("h1").waitFor();
      for (const theme of ["light", "dark"]) {
        await page.getByLabel("Theme").selectOption(theme);
        await settled();
        assert.deepEqual(await problemsOf(page), [], `${path} ${theme}`);
      }
      await page.setViewportSize({ width: 360, height: 740 });
      assert.equal(await page.evaluate("document.documentElement.scrollWidth > innerWidth"), false, path);
      await page.setViewportSize({ width: 1280, height: 800 });
    }
  });

  it("offers people who may only read nothing that changes anything, and lets them look", async () => {
    const policy = (await bench.control.context.db("policies").first<{ id: string }>("id")).id;
    const viewer = await makePerson(bench.control, owner, "viewer");
    const other = await bench.open("/policy-sets");
    await bench.signIn(other, viewer.email);
    await other.getByRole("link", { name: SET, exact: true }).waitFor();
    const changing =
      /^(New|Edit$|Delete|Assign|Remove from|Publish$|Activate|Roll back|Start|Change the|Promote|Take back|Set to)/;
    for (const path of [
      ...["/policies", `/policies/${policy}`, "/policy-sets", `/policy-sets/${SET}`],
      ...["edit", "rollout&start=v0", "history"].map((name) => `/policy-sets/${SET}?tab=${name}`),
    ]) {
      await other.goto(path);
      await other.locator("h1").waitFor();
      await eventually("the page", async () => (await other.locator("[aria-busy=true]").count()) === 0);
      const offered = await other.getByRole("button").allTextContents();
      assert.deepEqual(
        offered.filter((name) => changing.test(name)),
        [],
        path,
      );
      assert.equal(await other.getByRole("dialog").count(), 0);
    }
    await other.goto(`/policy-sets/${SET}?tab=edit&from=v0`);
    await other.getByRole("button", { name: "Compare with the active version" }).click();
    await other.getByRole("heading", { name: "What changes against v2" }).waitFor();
    await other.locator(".change").first().waitFor();
    await other.context().close();
  });
});
