import assert from "node:assert/strict";
import { cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { EVENT_MEMBERS } from "../../src/control/resources/webhooks/payload.ts";
import { stepUpChallenge } from "../../src/customer-state/step-up.ts";
import { ROOT, textOf } from "../../docs/.vitepress/pages.ts";
import { DEMO_POLICIES } from "../support/demo-policies.ts";
import { blocksOf, withPlaces } from "../authorizers/support/guide.ts";
import { runCommands } from "../deploy/support/guide-blocks.ts";
import {
  PRODUCTION_ONLY,
  startControlPlaneProcess,
  type ControlPlaneProcess,
} from "../support/control-plane.ts";
import { eventually } from "../support/eventually.ts";
import { startOpenIdProvider, type OpenIdProvider } from "../support/providers/openid-provider.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { blockWith } from "./support/page-blocks.ts";

const PASSWORD = "a quiet river under 9 stars";
/** `gatehouse` and `npx gatehouse`, of this checkout. */
const PROGRAM = ["gatehouse", "npx"]
  .map(
    (name) =>
      `${name}() { ${name === "npx" ? "shift; " : ""}'${process.execPath}' '${join(ROOT, "bin/gatehouse.js")}' "$@"; }`,
  )
  .join("\n");

interface Envelope {
  readonly success: boolean;
  readonly data: Readonly<Record<string, unknown>> & { readonly id: string };
}

/** The answers of the API that commands have printed. */
function answersIn(printed: string): readonly Envelope[] {
  const answers = printed.split(/(?<=\})\n?(?=\{"success")/).map((text) => JSON.parse(text) as Envelope);
  for (const answer of answers) assert.equal(answer.success, true, printed);
  return answers;
}

/** The commands of the pages about the control plane, as they are written there, except for addresses and ids. */
describe("docs: commands about the control plane", function () {
  this.timeout(300_000);
  const page = "docs/control-plane.md";
  let plane: ControlPlaneProcess;
  let provider: OpenIdProvider;
  let places: Readonly<Record<string, string>>;
  /** What earlier blocks have set. */
  let known = "";
  let owner: Readonly<Record<string, string>>;
  let customer: string;

  const run = (commands: string, filled: Readonly<Record<string, string>> = {}) => {
    const address = "http://127.0.0.1:8080";
    const used = commands.includes(address) ? places : {};
    return runCommands(commands, {
      cwd: plane.directory,
      prelude: `${PROGRAM}\n${known}`,
      places: { ...used, ...filled },
    });
  };
  /** As the dashboard's page does. */
  const browse = async (method: string, path: string, body: object) => {
    const answer = await fetch(`${plane.url.production}/v1${path}`, {
      method,
      headers: { ...owner, origin: plane.url.production, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    assert.ok(answer.ok, text);
    return { headers: answer.headers, data: (JSON.parse(text) as Envelope).data };
  };

  before(async () => {
    // with the words of the page
    assert.match(blockWith(page, "npx gatehouse control-plane"), /^npx gatehouse control-plane {2,}# /);
    [plane, provider] = await Promise.all([
      startControlPlaneProcess({ config: { api: PRODUCTION_ONLY } }),
      startOpenIdProvider(),
    ]);
    places = { "http://127.0.0.1:8080": plane.url.production };
    owner = {};
  });
  after(async () => {
    await provider.close();
    await plane.stop();
  });

  it("make the first owner, and get one in again who cannot sign in", async () => {
    const printed = await run(blockWith(page, "owner-link"));
    const [, link = ""] = /(http\S+\/setup\?token=\S+)/.exec(printed) ?? [];
    const token = new URL(link).searchParams.get("token");
    const [email, name] = ["olga@example.com", "Olga"];
    await browse("POST", "/dashboard/setup", { token, email, name, password: PASSWORD });
    const { headers, data } = await browse("POST", "/dashboard/login", { email, password: PASSWORD });
    const cookie = (headers.getSetCookie()[0] ?? "").split(";")[0] ?? "";
    owner = { cookie, "x-csrf-token": String(data["csrf_token"]) };
    assert.match(await run(blockWith(page, "owners reset")), /http\S+\?token=\S+/);
  });

  it("make a key, and replace it", async () => {
    const key = await run(`${blockWith(page, "--name setup")}printf %s "$KEY"`);
    assert.match(key, /^gh_live_/);
    known = `KEY='${key}'`;
    const { data } = await browse("POST", "/api-keys", { name: "old", scope: "read_only" });
    const rolled = await run(`${blockWith(page, "keys roll")}printf %s "$NEW_KEY"`, { "key_...": data.id });
    assert.match(rolled, /^gh_live_/);
  });

  it("create a customer with an identity provider, and say what it may assert", async () => {
    const [create = "", configure = "", ...more] = blockWith(page, "/idp")
      .split(/^(?=call \$API)/m)
      .slice(1);
    assert.deepEqual(more, []);
    const [, define = ""] = /^(API=.*?)\n\n/s.exec(blockWith(page, "/idp")) ?? [];
    known = `${known}\n${withPlaces(define, places)}`;
    customer = answersIn(await run(create))[0]?.data.id ?? "";
    assert.match(customer, /^cus_/);
    await run(configure, {
      "cus_...": customer,
      // which can be reached from here
      '"type":"okta","domain":"acme.okta.com"': `"type":"oidc","domain":"${new URL(provider.issuer).host}","issuer":"${provider.issuer}"`,
    }).then(answersIn);
    const [changed] = answersIn(await run(blockWith(page, "role_mapping"), { "cus_...": customer }));
    assert.deepEqual(changed?.data["allowed_roles"], ["manager", "viewer"]);
  });

  it("get a token for a program, and ask about it", async () => {
    const { data } = await browse("POST", "/clients", { name: "reports", scopes: ["reports:read"] });
    const credentials = { "cli_...:ghc_...": `${data.id}:${String(data["client_secret"])}` };
    const answer = JSON.parse(await run(blockWith(page, "client_credentials"), credentials)) as {
      access_token: string;
    };
    const { data: key } = await browse("POST", "/api-keys", { name: "ask", scope: "authentication" });
    const asked = await run(`KEY_ID=${key.id} KEY=${String(key["key"])}\n${blockWith(page, "introspect")}`, {
      "token=...": `token=${answer.access_token}`,
    });
    assert.equal((JSON.parse(asked) as { active: boolean }).active, true, asked);
  });

  it("assign a policy to every customer, after a preview", async () => {
    const conditions = { mfa_required: true };
    const body = JSON.stringify({ name: "MFA", type: "authentication", conditions });
    const [created] = answersIn(await run(`call $API/policies -d '${body}'`));
    const printed = await run(`POLICY=${created?.data.id ?? ""}\n${blockWith(page, '"preview"')}`);
    const jobs = answersIn(printed);
    assert.deepEqual(
      jobs.map(({ data }) => data["action"]),
      ["preview", "assign"],
    );
    for (const job of jobs)
      await eventually(String(job.data["action"]), async () => {
        const [now] = answersIn(await run(`call $API/bulk-assignments/${job.data.id}`));
        return now?.data["status"] === "finished";
      });
    const policies = JSON.parse(await run(`call $API/customers/${customer}/policies`)) as {
      data: readonly { id: string }[];
    };
    assert.deepEqual(
      policies.data.map(({ id }) => id),
      [created?.data.id],
    );
  });

  it("show the challenge that the code writes", () => {
    const [challenge] = blocksOf(textOf(page), "http");
    const written = stepUpChallenge("...", { acr_values: "phr phrh", max_age: 600 });
    assert.equal(challenge, `WWW-Authenticate: ${written}\n`);
  });

  it("publish a policy set", async () => {
    const [published] = answersIn(await run(blockWith(page, "call $API/policy-sets")));
    assert.deepEqual([published?.data["name"], published?.data["version"]], ["default", "v1"]);
  });

  it("subscribe to events, and fetch them (docs/webhooks.md)", async () => {
    const webhooks = "docs/webhooks.md";
    const set = `BASE_URL=${plane.url.production} API_KEY=$KEY\n`;
    const url = { "https://hooks.example.com": provider.issuer };
    const [webhook] = answersIn(await run(`${set}${blockWith(webhooks, "hooks.example.com")}`, url));
    assert.match(webhook?.data.id ?? "", /^whk_/);
    const events = JSON.parse(await run(`${set}${blockWith(webhooks, "/v1/events")}`)) as {
      data: { events: readonly { type: string }[] };
    };
    assert.ok(
      events.data.events.some(({ type }) => type === "customer.created"),
      JSON.stringify(events),
    );
  });

  it("show an event as it is sent (docs/webhooks.md)", () => {
    const [request = ""] = blocksOf(textOf("docs/webhooks.md"), "http");
    const [head = "", body = ""] = request.split("\n\n");
    const { id, type, timestamp, data } = JSON.parse(body) as Record<string, string> & { data: object };
    assert.equal(type, "user.authenticated");
    for (const name of Object.keys(data))
      assert.ok((EVENT_MEMBERS["user.authenticated"] as readonly string[]).includes(name), name);
    assert.match(head, new RegExp(`^webhook-id: ${id ?? ""}$`, "m"));
    assert.match(head, new RegExp(`^webhook-timestamp: ${Date.parse(timestamp ?? "") / 1000}$`, "m"));
  });

  it("make keys for callers of applications (docs/identity.md)", async () => {
    const session = `SESSION='${owner["cookie"] ?? ""}' CSRF='${owner["x-csrf-token"] ?? ""}'\n`;
    // what the browser sends by itself
    const curl = `curl() { command curl -H 'Origin: ${plane.url.production}' "$@"; }\n`;
    const block = blockWith("docs/identity.md", '"scope":"caller"');
    const printed = await run(`${curl}${session}${block}`, { "cus_...": customer });
    const [, created = "", made = ""] = /^(\{.*\})\s*(gh_live_\S+)\s*$/s.exec(printed) ?? [];
    assert.equal(answersIn(created)[0]?.data["scope"], "caller");
    assert.match(made, /^gh_live_/);
  });
});

/** Commands that need nothing but files. */
describe("docs: commands about policies", () => {
  const run = (commands: string, cwd: string) => runCommands(commands, { cwd, prelude: PROGRAM });

  it("are answered as docs/policies.md says", async () => {
    const folder = await temporaryDirectory();
    await cp(DEMO_POLICIES, join(folder, "policies"), { recursive: true });
    assert.match(await run(blockWith("docs/policies.md", "policy coverage"), folder), /^\S/);
    const explained = await run(blockWith("docs/policies.md", "policy explain"), folder);
    assert.match(explained, /^DENY \(403\) .*\n[^]*\buser\.customer_id is "c-1"/);
  });

  it("compare two sets (docs/policy-diff.md)", async () => {
    const folder = await temporaryDirectory();
    for (const [name, condition] of [
      ["policies", "exists(user.id)"],
      ["changed", 'user.role == "admin" and exists(user.id)'],
    ] as const) {
      await mkdir(join(folder, name));
      const rule = `policies:\n  - { resource: GET /orders, condition: '${condition}' }\n`;
      await writeFile(join(folder, name, "default.yaml"), rule);
    }
    assert.match(await run(blockWith("docs/policy-diff.md", "policy diff"), folder), /\bnarrower\b/);
  });

  it("check whether a proxy can enforce a set (docs/deployment/README.md)", async () => {
    const page = "docs/deployment/README.md";
    const folder = await temporaryDirectory();
    await mkdir(join(folder, "policies"));
    const rule = "policies:\n  - { resource: GET /orders, condition: exists(user.id) }\n";
    await writeFile(join(folder, "policies/default.yaml"), rule);
    assert.match(await run(blockWith(page, "--door nginx"), folder), /default@v0/);
  });

  it("decide recorded requests again (docs/replay.md)", async () => {
    const folder = await temporaryDirectory();
    const rule = "policies:\n  - { resource: GET /orders, condition: 'user.department == \"sales\"' }\n";
    for (const name of ["policies", "new-policies"]) {
      await mkdir(join(folder, name));
      await writeFile(join(folder, name, "default.yaml"), rule);
    }
    const inputs = {
      ...{ at: 0, environment: "production", method: "GET", path: "/orders", host: "a", scheme: "http" },
      ...{ protocol: "HTTP/1.1", caller: "identified", values: { "user.department": "sales" } },
    };
    const record = {
      ...{ timestamp: "2026-01-01T00:00:00.000Z", decision: "ALLOW", reason: "CONDITION_TRUE" },
      ...{ decision_id: "dec_1", user_id: "u-1", customer_id: "c-1", action: "GET", resource: "/orders" },
      ...{
        rule: "policies[0]",
        rule_resource: "GET /orders",
        policy_set: "default@v0",
        client_ip: "192.0.2.1",
      },
      inputs,
    };
    // the files that rotation has left, too
    for (const name of ["audit.log", "audit.log.1"])
      await writeFile(join(folder, name), `${JSON.stringify(record)}\n`);
    await writeFile(join(folder, "inputs.key"), Buffer.alloc(32, 1).toString("base64"));
    assert.match(await run(blockWith("docs/replay.md", "--rotated"), folder), /^2 decisions: 2 unchanged/);
  });
});
