import assert from "node:assert/strict";
import { join } from "node:path";
import { runSuites } from "../../../src/cli/run-suites.ts";
import { DEMO_POLICIES } from "../../support/demo-policies.ts";
import { eventually } from "../../support/eventually.ts";
import { startGateway } from "../../support/gateway.ts";
import { makeKey } from "../../support/guarded-control.ts";
import { problemsOf, staysInDialog, tabTo } from "../support.ts";
import { MARKUP, SET, type Journey } from "./journey.ts";
import { rolloutJourneys } from "./rollouts.ts";

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

/** A policy set from its first line to a real gateway. */
export function policySets(journey: Journey, upstream: () => string): void {
  const {
    belongings,
    bench,
    page,
    owner,
    api,
    button,
    dialog,
    inDialog,
    heading,
    said,
    tab,
    active,
    answers,
    press,
    confirm,
    focusOn,
  } = journey;
  const editor = () => page().getByRole("textbox", { name: /^Source of/ });
  const paste = async (text: string) => {
    await page().evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`);
    await page().keyboard.press("Control+v");
  };
  /** Puts a text in place of the file. */
  const write = async (text: string) => {
    await editor().focus();
    await page().keyboard.press("Control+a");
    await paste(text);
  };
  /** An expression of the page becomes true. */
  const until = (expression: string) =>
    eventually(expression, async () => (await page().evaluate(expression)) === true);
  const SILVER = { "x-tier": "silver" };
  /** Takes the first suggestion. */
  const takeSuggestion = async (name: string) => {
    await page().getByRole("option", { name, exact: true }).waitFor();
    // for its first 75 ms the editor takes Enter for a new line, so that nobody takes a suggestion that they have not seen
    await page().waitForTimeout(200);
    await page().keyboard.press("Enter");
  };

  it("writes a set by keyboard alone: suggestions, problems as one types, a draft that a reload keeps", async () => {
    belongings.page = await bench().open("/policy-sets", {
      permissions: ["clipboard-read", "clipboard-write"],
    });
    await bench().signIn(page(), owner().email);
    await heading("No policy sets yet");
    await tabTo(page(), "New policy set");
    await page().keyboard.press("Enter");
    await dialog().waitFor();
    await tabTo(page(), "Name");
    await page().keyboard.type(SET);
    await page().keyboard.press("Enter");
    await editor().waitFor();
    await said("No problems");
    await tabTo(page(), "Source of main.yaml");
    await page().keyboard.press("Control+a");
    await paste('policies:\n  - resource: "GET /open"\n    ');
    await page().keyboard.type("cond");
    await takeSuggestion("condition");
    await page().keyboard.type("env.en");
    await takeSuggestion("environment");
    await page().keyboard.type(" = ");
    await page()
      .getByText(/Problems: [1-9]\d* errors/)
      .waitFor();
    assert.ok(await button("Publish").isDisabled());
    await page().keyboard.press("Backspace");
    await paste('= "production"');
    await said("No problems");
    await page().keyboard.press("Tab");
    assert.equal(
      await page().evaluate("document.activeElement.shadowRoot === null"),
      true,
      "Tab leaves the editor",
    );
    await until("Object.values(localStorage).some((text) => text.includes('== \\\\\"prod'))");
    await page().reload();
    await editor().getByText("env.environment").waitFor();
    await page().getByText("This is your draft of a new policy set").waitFor();
  });

  it("publishes and activates it by keyboard alone, and a real gateway enforces it", async () => {
    await said("No problems");
    await tabTo(page(), "Publish");
    await page().keyboard.press("Enter");
    await dialog().waitFor();
    await tabTo(page(), "Then");
    await page().keyboard.press("ArrowDown");
    await tabTo(page(), "Publish");
    await page().keyboard.press("Enter");
    await said("v0 is active");
    assert.equal(await active(), "v0");
    const { secret } = await makeKey(bench().control, { name: "edge", scope: "gateway" });
    belongings.gateway = await startGateway({
      backend: upstream(),
      issuer: { url: bench().control.url, audience: "gatehouse" },
      policies: {},
      config: {
        gateway: {
          listen_port: 0,
          backend: upstream(),
          cluster: { nodes: 1, coordination: "control_plane" },
        },
        policies: { source: "control_plane", policy_set: SET, refresh_interval: "1s" },
        control_plane: { url: bench().control.url, api_key: secret },
        audit: { destination: "control_plane" },
      },
    });
    await answers("/open", 200);
    await answers("/closed", 403);
  });

  it("goes from a problem to its place, and formats", async () => {
    await write(OPEN.replace('"gold" or', '"gold"   or  users.x'));
    const problem = page()
      .getByRole("button", { name: /^Go to main\.yaml:6:/ })
      .first();
    await problem.waitFor();
    await problem.click();
    await until("document.activeElement.shadowRoot?.activeElement.className.includes('cm-content')");
    await write(OPEN.replace(" or ", "   or  "));
    await said("No problems");
    // keys, strings and the operators of conditions differ in colour
    const colours = await page().evaluate<string[]>(`
      [...document.querySelector(".editor").shadowRoot.querySelectorAll(".cm-line span")].map(
        (one) => getComputedStyle(one).color,
      )`);
    assert.ok(new Set(colours).size >= 3, colours.join(" "));
    await button("Format").click();
    await said("Formatted");
    await editor().getByText('"gold" or request').waitFor();
  });

  it("runs the tests of a suite in the page, with what they show in the margin", async () => {
    await button("Add a file").click();
    await page().getByLabel("Name of the file").fill("not a file");
    await inDialog("Add a file").click();
    await dialog().getByRole("alert").waitFor();
    await page().getByLabel("Name of the file").fill("edge.test.yaml");
    await page().keyboard.press("Enter");
    await page().getByRole("textbox", { name: "Source of edge.test.yaml" }).waitFor();
    await write(SUITE);
    await button("Run the tests").click();
    await said("1 passed, 1 failed");
    await page()
      .getByText("Actual: deny, CONDITION_UNKNOWN")
      .or(page().getByText("Actual: deny, CONDITION_FALSE"))
      .waitFor();
    await page().getByText(`edge.test.yaml:7`).first().waitFor();
    await write(SUITE.replace(/allow\n$/, "deny\n"));
    await page().getByText("The set or its tests have changed since.").waitFor();
    await button("Run the tests").click();
    await said("2 passed, 0 failed");
    await button("main.yaml").click();
    const mark = page().locator('.coverage[title*="policies[0]"]').first();
    await mark.waitFor();
    assert.match((await mark.getAttribute("title")) ?? "", /true 1, false \d, unknown \d/);
    assert.deepEqual(await problemsOf(page()), []);
  });

  it("shows what a change means against the active version, and with which request", async () => {
    await button("Compare with the active version").click();
    await heading("What changes against v0");
    const change = page().locator(".change").filter({ hasText: "GET /open" });
    await change.getByText("wider and narrower", { exact: true }).waitFor();
    await change.getByText("Only before the change").click();
    await change.locator("details[open]").getByText("CONDITION_TRUE").first().waitFor();
    await page().locator(".editor").nth(1).getByText("x-tier").first().waitFor();
  });

  it("activates a version from the list by keyboard alone, and the gateway answers otherwise; a roll-back undoes it", async () => {
    await confirm("Publish", "Publish");
    await said(`Published ${SET}@v1`);
    await answers("/open", 200);
    await press("Versions");
    await button("Activate v1").waitFor();
    await press("Activate v1");
    await dialog().getByText("This changes Sandbox.").waitFor();
    await staysInDialog(page());
    await press("Cancel");
    await dialog().waitFor({ state: "detached" });
    await focusOn("Activate v1");
    await page().keyboard.press("Enter");
    await dialog().waitFor();
    await press("Activate");
    await page()
      .getByRole("row", { name: /v1 active/ })
      .waitFor();
    // the list has been read again, without this button: the focus stays at the list
    await focusOn("Versions");
    await answers("/open", 403);
    await answers("/open", 200, SILVER);
    await confirm("Roll back", "Roll back");
    await said("Rolled back to v0");
    await answers("/open", 200);
  });

  it("shows both versions where a version is already published with other content", async () => {
    await tab("Edit");
    await page().goto(`/policy-sets/${SET}?tab=edit&from=v1`);
    await editor().waitFor();
    await write(OPEN.replace(' or request.headers["x-tier"] == "silver"', ""));
    await said("No problems");
    await button("Publish").click();
    await inDialog("Publish").click();
    await heading("v1 is already published with different content");
    await dialog().locator(".editor").getByText("silver").first().waitFor();
    assert.deepEqual(await problemsOf(page()), []);
    await page().getByLabel("Next version").fill("v2");
    await inDialog("Publish as v2").click();
    await editor().getByText('"v2"').waitFor();
    await said(`No problems`);
    await page().getByText(`${SET}@v2`).waitFor();
  });

  it("shows what has become active in the meantime, before it activates over it", async () => {
    await button("Publish").click();
    await page().getByLabel("Then").selectOption("activate");
    await api("POST", `/policy-sets/${SET}/activate`, { version: "v1" });
    await inDialog("Publish").click();
    await heading("Another version was activated in the meantime");
    await dialog().getByText("v1 is active now").waitFor();
    await dialog().locator(".change").getByText("narrower", { exact: true }).waitFor();
    assert.deepEqual(await problemsOf(page()), []);
    assert.equal(await active(), "v1");
    await dialog().getByRole("button", { name: "Cancel" }).click();
    assert.equal((await api("GET", `/policy-sets/${SET}/versions/v2`)).status, 200);
  });

  it("shows what was seen and what is, where a page is stale", async () => {
    await tab("Versions");
    await page()
      .getByRole("row", { name: /v1 active/ })
      .waitFor();
    await api("POST", `/policy-sets/${SET}/activate`, { version: "v0" });
    await button("Roll back").click();
    await inDialog("Roll back").click();
    await heading("The policy set has changed in the meantime");
    const row = dialog().getByRole("row", { name: /^Active version/ });
    assert.deepEqual(await row.getByRole("cell").allTextContents(), ["v1", "v0"]);
    assert.deepEqual(await problemsOf(page()), []);
    await inDialog("Show it as it is now").click();
    await page()
      .getByRole("row", { name: /v0 active/ })
      .waitFor();
    await api("POST", `/policy-sets/${SET}/activate`, { version: "v1" });
    await answers("/open", 200, SILVER);
    await answers("/open", 403);
  });

  rolloutJourneys(journey);

  it("decides the delivered suites in the page as the command line does", async () => {
    const delivered = (name: string) => join(DEMO_POLICIES, name);
    const [expected] = await runSuites(DEMO_POLICIES, ["default.test.yaml"]);
    await page().goto("/policy-sets/default?tab=edit&new=1");
    await editor().waitFor();
    await page()
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
    await page().getByText(`What the tests do not show (${gaps.length})`).waitFor();
    await button("Discard the draft").click();
    await inDialog("Discard the draft").click();
    await heading("Policy sets");
    assert.equal(await page().getByRole("link", { name: "default", exact: true }).count(), 0);
  });
}
