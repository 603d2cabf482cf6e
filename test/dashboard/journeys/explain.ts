import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { load } from "js-yaml";
import type { Page } from "playwright-core";
import {
  EMPTY_EXAMPLE,
  type ExplainAsked,
  type ExplainGiven,
} from "../../../dashboard/src/core/explain-protocol.ts";
import { policyExplainCommand } from "../../../src/cli/policy-explain.ts";
import { eventually } from "../../support/eventually.ts";
import { sendRaw } from "../../support/raw-http.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { problemsOf, staysInDialog, tabTo } from "../support.ts";
import { MARKUP, SET, type Journey } from "./journey.ts";

const ASSETS = new URL("../../../dashboard/dist/assets/", import.meta.url);

interface Table {
  readonly policies: string;
  readonly cases: readonly {
    readonly line: string;
    readonly headers?: readonly string[];
    readonly body?: string;
  }[];
}
const { policies, cases: CASES } = load(
  readFileSync(new URL("../../cases/explain/dashboard.yaml", import.meta.url), "utf8"),
) as Table;
const FILE = `${SET}.yaml`;
/** As a version of the set that the gateway follows. */
const POLICIES = policies.replace("policy_set: main\nversion: v1", `policy_set: ${SET}\nversion: cases`);

/** A person of the sandbox, whose requests a real gateway decides, and whose denials are explained. */
export function explaining(journey: Journey): void {
  const { bench, page, api, customer, gateway, button, dialog, press, type, focusOn } = journey;
  let user: { id: string } & Record<string, unknown>;
  let token = "";
  const verdict = () => page().locator(".verdict");
  before(async () => {
    const published = await api("POST", "/policy-sets", {
      ...{ name: SET, files: [{ name: FILE, text: POLICIES }], activate: true },
    });
    assert.equal(published.status, 201, published.text);
    // of earlier parts of the journey: who signs in here meets no requirement
    const assigned = await api("GET", `/customers/${customer()}/policies`);
    for (const { id } of assigned.body.data as { id: string }[]) {
      const removed = await api("DELETE", `/customers/${customer()}/policies/${id}`);
      assert.equal(removed.status, 200, removed.text);
    }
  });

  it("signs a person of the sandbox in, by keyboard alone", async () => {
    await page().goto(`/customers/${customer()}?tab=people`);
    await page().getByText("Sandbox: for trying things out").waitFor();
    await button("Add a person").waitFor();
    await tabTo(page(), "Add a person");
    await page().keyboard.press("Enter");
    await dialog().waitFor();
    for (const [name, text] of [
      ["E-mail address", "ada@acme.example"],
      ["Name", "Ada"],
      ["Role", "viewer"],
      ["Department", "finance"],
    ] as const) {
      await tabTo(page(), name);
      await page().keyboard.type(text);
    }
    await page().keyboard.press("Enter");
    await page().getByRole("cell", { name: "ada@acme.example", exact: true }).waitFor();
    await tabTo(page(), "Sign in as ada@acme.example");
    await page().keyboard.press("Enter");
    await page().getByRole("heading", { name: "Signed in as ada@acme.example" }).waitFor();
    assert.deepEqual(await problemsOf(page()), []);
    token = (await dialog().locator("code").first().textContent()) ?? "";
    await tabTo(page(), "Done");
    await page().keyboard.press("Enter");
    await dialog().waitFor({ state: "detached" });
    assert.ok(!(await page().content()).includes(token));
    const users = await api("GET", `/customers/${customer()}/users`);
    user = users.body.data[0] as typeof user;
  });

  it("explains a real denial from its record, and what would have been permitted, by keyboard alone", async () => {
    const denied = await fetch(`${gateway().url}/departments/sales?page=1`, {
      headers: { authorization: `Bearer ${token}`, accept: "application/json" },
    });
    assert.equal(denied.status, 403);
    await page().goto("/audit?kind=decision&decision=DENY&resource=/departments/sales");
    await eventually("the record", async () => {
      const there = await page()
        .getByRole("button", { name: /^Show record decision/ })
        .count();
      if (there === 0) await page().reload();
      return there > 0;
    });
    const show = page()
      .getByRole("button", { name: /^Show record decision/ })
      .first();
    await press((await show.getAttribute("aria-label")) ?? "");
    await dialog().getByRole("link", { name: "Explain" }).waitFor();
    await staysInDialog(page());
    await press("Explain");
    await page().getByRole("heading", { name: "Explain", exact: true }).waitFor();
    await focusOn("Explain");
    await verdict().getByText("CONDITION_UNKNOWN").or(verdict().getByText("CONDITION_FALSE")).waitFor();
    await page().getByText("Own department", { exact: true }).waitFor();
    // the record has no attributes of the caller: they are added, and then the outcome is that of the record
    await type("Request", "GET /departments/sales?page=1");
    await type("Caller (user)", JSON.stringify({ id: user.id, department: "finance" }));
    await press("Explain");
    await page().getByText("The same outcome as in the record.").waitFor();
    const trace = page().locator(".trace").first();
    await trace.getByText("user.department == path.name", { exact: true }).waitFor();
    await trace.getByText('"finance"', { exact: true }).first().waitFor();
    assert.deepEqual(await problemsOf(page()), []);
    await page().getByRole("link", { name: "Explain with the active set" }).waitFor();
    await type("Request", "GET /departments/finance?page=1");
    await press("Response and messages");
    await type("Response of the application", '{"name":"Ada","ssn":"123-45-6789"}');
    await press("Explain");
    await verdict().getByText("Permitted").waitFor();
    await page().getByText('{"name":"Ada","ssn":"***6789"}', { exact: true }).waitFor();
  });

  it("says what `policy explain` and the gateway say", async () => {
    const directory = await temporaryDirectory();
    await writeFile(join(directory, FILE), POLICIES);
    const caller = { id: user.id, department: "finance", role: "viewer" };
    const time = new Date().toISOString();
    for (const [index, { line, headers = [], body }] of CASES.entries()) {
      const sent = [`host: case-${index}.test`, ...headers];
      await sendRaw(
        gateway().port,
        [
          `${line} HTTP/1.1`,
          ...sent,
          `authorization: Bearer ${token}`,
          ...(body === undefined ? [] : ["content-type: application/json", `content-length: ${body.length}`]),
          "connection: close",
          "",
          body ?? "",
        ].join("\r\n"),
      );
    }
    const recorded = await eventually("the records", async () => {
      const { body } = await api("GET", "/audit/logs?kind=decision&limit=100");
      const records = body.data as readonly Readonly<Record<string, unknown>>[];
      const found = CASES.map((_, index) => records.find(({ host }) => host === `case-${index}.test`));
      return found.every((one) => one !== undefined) ? found : undefined;
    });
    await page().goto("/explain");
    for (const [index, { line, headers = [], body }] of CASES.entries()) {
      const sent = [`host: case-${index}.test`, ...headers];
      const args = [
        "--directory",
        directory,
        "--policy-set",
        SET,
        "--json",
        "--time",
        time,
        "--request",
        line,
      ];
      for (const header of sent) args.push("--header", header);
      if (body !== undefined) args.push("--body", body);
      args.push("--user", JSON.stringify(caller));
      let printed = "";
      await policyExplainCommand((more) => (printed += more)).parseAsync(args, { from: "user" });
      const example = {
        ...EMPTY_EXAMPLE,
        ...{ line, headers: sent.join("\n"), body: body ?? "", user: JSON.stringify(caller), time },
      };
      const set = { name: SET, files: [{ name: FILE, text: POLICIES }] };
      const given = await inPage(page(), { set, example });
      assert.ok(given.kind === "explained", line);
      const explained = JSON.parse(printed) as Record<string, unknown>;
      assert.deepEqual(given.explanation, explained, line);
      const { decision, reason, rule } = recorded[index] ?? {};
      assert.deepEqual(
        [decision, reason, rule],
        [explained["decision"], explained["reason"], explained["decided_by"]],
        line,
      );
    }
    assert.equal(new Set(recorded.map((record) => record["reason"])).size >= 6, true);
  });

  it("reads a curl command, and gives a link that holds everything but secrets", async () => {
    await page().goto("/explain");
    await page()
      .getByRole("textbox", { name: "Paste a request or a curl command" })
      .fill(
        `curl 'https://u:hunter2@api.example.com/departments/finance?page=1&api_key=hunter2' -H 'Authorization: Bearer ${token}' \\\n  -b 'session=hunter2' -H 'x-note: ${MARKUP}'`,
      );
    await button("Fill in the fields").click();
    assert.match(await page().getByLabel("Caller (user)").inputValue(), /"department": "finance"/);
    await button("Explain").click();
    await verdict().getByText("Permitted").waitFor();
    await page().locator(".explained").getByText("<img src=x").first().waitFor();
    assert.deepEqual(await problemsOf(page()), []);
    const { hash } = new URL(page().url());
    const held = Buffer.from(hash.replace("#example=", ""), "base64url").toString("utf8");
    assert.match(held, /departments\/finance/);
    assert.doesNotMatch(held, /hunter2|eyJ|[Bb]earer|session=/);
    const other = await bench().tab(page(), `/explain${hash}`);
    await other.locator(".verdict").getByText("Permitted").waitFor();
    assert.match(await other.getByLabel("Caller (user)").inputValue(), /finance/);
    await other.close();
    // what is wrong is said beside its field
    await page().getByLabel("Caller (user)").fill("{");
    await button("Explain").click();
    await page().getByRole("alert").getByText("is not a JSON object").waitFor();
    await page().goto("/explain#example=%00broken");
    await page().getByText("Fill in a request").waitFor();
    assert.equal(await page().evaluate("globalThis.hit"), undefined);
  });

  it("explains a pasted set, with its errors, by keyboard alone and in both themes", async () => {
    await page().goto("/explain");
    await page().getByRole("radio", { name: "Pasted" }).focus();
    await page().keyboard.press("Space");
    await tabTo(page(), "Policies (YAML)");
    await page().keyboard.insertText("policies:\n  - { resource: 'GET /a', condition: user.x == }\n");
    await tabTo(page(), "Request");
    await page().keyboard.type("GET /a");
    await page().keyboard.press("Enter");
    await page().getByRole("heading", { name: "The policy set has errors" }).waitFor();
    await page()
      .getByLabel("Policies (YAML)")
      .fill("policies:\n  - { resource: 'GET /a', condition: 'user.x == 1' }\n");
    await page().getByLabel("Request", { exact: true }).focus();
    await page().keyboard.press("Enter");
    await verdict().getByText("IDENTITY_REQUIRED").waitFor();
    for (const theme of ["light", "dark"]) {
      await page().getByLabel("Theme").selectOption(theme);
      assert.deepEqual(await problemsOf(page()), [], theme);
    }
    await page().setViewportSize({ width: 360, height: 740 });
    assert.equal(await page().evaluate("document.documentElement.scrollWidth > innerWidth"), false);
    await page().setViewportSize({ width: 1280, height: 800 });
  });

  it("ends a session, whose token the gateway then refuses, by keyboard alone", async () => {
    const status = async () =>
      (await fetch(`${gateway().url}/public/a`, { headers: { authorization: `Bearer ${token}` } })).status;
    assert.equal(await status(), 200);
    await page().goto(`/customers/${customer()}?tab=sessions`);
    const end = page().getByRole("button", { name: /^End session/ });
    await end.first().waitFor();
    await tabTo(page(), (await end.first().getAttribute("aria-label")) ?? "");
    await page().keyboard.press("Enter");
    await dialog().getByText("This changes Sandbox.").waitFor();
    await tabTo(page(), "End");
    await page().keyboard.press("Enter");
    await page().getByRole("status").getByText("Session ended").waitFor();
    await eventually("the refusal", async () => (await status()) === 401);
  });
}

/** What the worker of the page says, asked by a script of the page. */
function inPage(page: Page, input: ExplainAsked): Promise<ExplainGiven> {
  const [name] = readdirSync(ASSETS).filter((file) => file.startsWith("worker-"));
  return page.evaluate(
    ({ url, asked }) =>
      new Promise<ExplainGiven>((resolve, reject) => {
        const worker = new (
          globalThis as unknown as { Worker: new (url: string, how: object) => PageWorker }
        ).Worker(url, { type: "module" });
        worker.onmessage = ({ data }) => {
          worker.terminate();
          if ("result" in data) resolve(data.result as ExplainGiven);
          else reject(new Error(JSON.stringify(data)));
        };
        worker.postMessage(asked);
      }),
    { url: `/assets/${name ?? ""}`, asked: { id: 1, task: "explain", input } },
  );
}

interface PageWorker {
  onmessage: (event: { readonly data: object }) => void;
  postMessage(message: object): void;
  terminate(): void;
}
