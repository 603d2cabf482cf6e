import assert from "node:assert/strict";
import { runInNewContext } from "node:vm";
import type { RunningControl } from "../../../support/control.ts";
import { eventually } from "../../../support/eventually.ts";
import {
  makeOwner,
  newSetupLink,
  PASSWORD,
  send,
  signIn,
  startGuardedControl,
} from "../../../support/guarded-control.ts";

describe("the pages of one-time links", () => {
  let control: RunningControl;
  beforeEach(async () => {
    control = await startGuardedControl();
  });
  afterEach(() => control.close());

  it("hold nothing of the token, send it nowhere and load nothing from elsewhere", async () => {
    const link = await newSetupLink(control);
    for (const path of [link, `${control.url}/invite?token=abc`]) {
      const answer = await fetch(path);
      const html = await answer.text();
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get("referrer-policy"), "no-referrer");
      assert.equal(answer.headers.get("cache-control"), "no-store");
      const policy = answer.headers.get("content-security-policy") ?? "";
      assert.match(policy, /default-src 'none'.*script-src 'self'.*frame-ancestors 'none'/);
      assert.ok(!policy.includes("unsafe"));
      assert.ok(!html.includes(new URL(path).searchParams.get("token") ?? ""));
      assert.deepEqual(
        [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url]) => url),
        ["/setup.css", "/setup.js", "/"],
      );
      assert.ok(!/<script>|<script[^>]*>[^<]|\son\w+=|\sstyle=/.test(html), "inline script or style");
    }
    for (const [path, type] of [
      ["/setup.js", /^text\/javascript/],
      ["/setup.css", /^text\/css/],
    ] as const)
      assert.match((await fetch(control.url + path)).headers.get("content-type") ?? "", type);
  });

  it("label every field, describe it, and state the password rule", async () => {
    for (const path of ["/setup", "/invite"]) {
      const html = await (await fetch(control.url + path)).text();
      assert.match(html, /<title>[^<]+<\/title>/);
      assert.match(html, /name="viewport" content="width=device-width/);
      const inputs = [...html.matchAll(/<input name="([^"]+)"[^>]* aria-describedby="([^"]+)"/g)];
      assert.equal(inputs.length, html.split("<input").length - 1);
      for (const [, name = "", described = ""] of inputs) {
        assert.ok(html.includes(`<label for="${name}">`), name);
        for (const id of described.split(" ")) assert.ok(html.includes(`id="${id}"`), id);
      }
      assert.match(html, /id="password-hint" class="hint">12 to 200 characters/);
    }
  });

  it("make the first owner, and say so", async () => {
    const page = await open(await newSetupLink(control));
    assert.equal(page.address(), "/setup");
    page.submit({ email: "o@example.com", name: "O", password: "too short" });
    await eventually("the problem", () => page.message() !== "");
    assert.deepEqual(page.marked(), { password: "Password must have at least 12 characters" });
    assert.deepEqual(page.values(), { email: "o@example.com", name: "O", password: "" });
    assert.ok(!page.done());
    page.submit({ email: "o@example.com", name: "O", password: PASSWORD });
    await eventually("the end", () => page.done());
    await signIn(control, "o@example.com");
  });

  it("set the password of somebody who is invited, whoever is signed in with that browser", async () => {
    const owner = await makeOwner(control);
    const body = { email: "v@example.com", name: "V", role: "viewer" };
    const invited = await send(control, "POST", "/dashboard/users", owner.headers, body);
    const page = await open(invited.body.data.invitation.url, owner.cookie);
    page.submit({ password: PASSWORD });
    await eventually("the end", () => page.done());
    assert.deepEqual(page.credentials(), ["same-origin", "omit"]);
    await signIn(control, "v@example.com");
  });

  it("say so when the link is no good, and show what is answered as text", async () => {
    const page = await open(`${control.url}/setup?token=wrong`);
    page.submit({ email: "o@example.com", name: "O", password: PASSWORD });
    await eventually("the problem", () => page.message().includes("the link is unknown, used or expired"));
    const incomplete = await open(`${control.url}/invite`);
    assert.match(incomplete.message(), /Open the whole link/);
  });
});

/** A page in a browser that knows just what the page's script uses; what it sends goes to the real API. */
async function open(link: string, cookie?: string) {
  const url = new URL(link);
  const html = await (await fetch(link)).text();
  const script = await (await fetch(new URL("/setup.js", url))).text();
  const [, action] = /data-action="([^"]+)"/.exec(html) ?? [];
  const inputs = [
    ...html.matchAll(/<input name="([^"]+)"[^>]* data-label="([^"]+)"[^>]* type="([^"]+)"/g),
  ].map(([, name = "", label = "", type = ""]) => {
    const attributes = new Map<string, string>();
    return {
      name,
      type,
      value: "",
      dataset: { label },
      focus: () => undefined,
      getAttribute: (key: string) => attributes.get(key) ?? null,
      setAttribute: (key: string, value: string) => void attributes.set(key, value),
    };
  });
  const names = inputs.map(({ name }) => name);
  const errors = new Map(names.map((name) => [name, { textContent: "" }]));
  let submit: ((event: { preventDefault(): void }) => void) | undefined;
  let address = link;
  const credentials: (string | undefined)[] = [];
  const message = { textContent: "" };
  const done = { hidden: true };
  const form = {
    dataset: { action },
    hidden: false,
    querySelector: () => ({ disabled: false }),
    querySelectorAll: () => inputs,
    addEventListener(_type: string, listener: typeof submit) {
      submit = listener;
    },
  };
  const elements: Readonly<Record<string, unknown>> = {
    ...{ form, "#message": message, "#done": done },
    ...Object.fromEntries([...errors].map(([name, error]) => [`#${name}-error`, error])),
  };
  runInNewContext(script, {
    URLSearchParams,
    Object,
    JSON,
    document: { querySelector: (selector: string) => elements[selector] },
    location: url,
    history: {
      replaceState(_state: unknown, _title: string, path: string) {
        address = path;
      },
    },
    FormData: class {
      [Symbol.iterator]() {
        return inputs.map(({ name, value }) => [name, value])[Symbol.iterator]();
      }
    },
    fetch(path: string, options: RequestInit) {
      credentials.push(options.credentials);
      const isSent = cookie !== undefined && options.credentials !== "omit";
      const headers = { ...(options.headers as Record<string, string>), ...(isSent && { cookie }) };
      return fetch(new URL(path, url), { ...options, headers });
    },
  });
  return {
    address: () => address,
    message: () => message.textContent,
    values: () => Object.fromEntries(inputs.map(({ name, value }) => [name, value])),
    marked: () =>
      Object.fromEntries(
        inputs
          .filter((input) => input.getAttribute("aria-invalid") === "true")
          .map(({ name }) => [name, errors.get(name)?.textContent]),
      ),
    done: () => !done.hidden,
    credentials: () => credentials,
    submit(fields: Readonly<Record<string, string>>) {
      assert.deepEqual(Object.keys(fields), names);
      for (const input of inputs) input.value = fields[input.name] ?? "";
      submit?.({ preventDefault: () => undefined });
    },
  };
}
