import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { folderOf, keptCommandLine, type Folder } from "./support.ts";

const GOOD = `policy_set: shop
version: v2
policies:
  - { name: read, resource: "GET /orders/{id}", condition: user.role == "admin" or user.id == path.id }
  - { resource: "GET /open", condition: "true" }
`;
const BROKEN = `policies:
  - resource: "GET /orders"
    conditon: "true"
  - resource: "GET /other"
    condition: user.role = "admin"
`;

describe("cli: policy", () => {
  const kept = keptCommandLine();
  let folder: Folder;

  beforeEach(async () => {
    folder = await folderOf({ "policies/shop.yaml": GOOD });
  });
  afterEach(() => folder.remove());
  after(kept.close);

  const policy = (...args: string[]) => kept.gatehouse(["policy", ...args], { cwd: folder.path });

  describe("validate", () => {
    it("finds a good set good", async () => {
      const { code, stdout, stderr } = await policy("validate");
      assert.deepEqual([code, stderr], [0, ""]);
      assert.match(stdout, /^shop@v2: good, 2 rules, digest [0-9a-f]{12}\n$/);
    });
    it("prints every finding with its place and a caret, and exits with 1", async () => {
      await folder.add({ "policies/bad.yaml": BROKEN });
      const { code, stdout } = await policy("validate");
      assert.equal(code, 1);
      assert.match(stdout, /bad\.yaml:3:5: error: .*`conditon`/);
      assert.match(stdout, /^ 3 \| {5}conditon: "true"\n {3}\| {5}\^{8}$/m);
      assert.match(stdout, /did you mean `condition`/);
      assert.match(stdout, /bad\.yaml:5:\d+: error: /);
      assert.match(stdout, /^bad: has errors$/m);
      assert.match(stdout, /^shop@v2: good/m, "the other set is looked at all the same");
    });
    it("looks at the sets that are named, alone", async () => {
      await folder.add({ "policies/bad.yaml": BROKEN });
      assert.equal((await policy("validate", "shop")).code, 0);
      assert.equal((await policy("validate", "bad")).code, 1);
      const { code, stdout } = await policy("validate", "nowhere");
      assert.equal(code, 1);
      assert.match(stdout, /policy set `nowhere` not found/);
    });
    it("gives JSON", async () => {
      await folder.add({ "policies/bad.yaml": BROKEN });
      const { code, stdout } = await policy("validate", "--json");
      assert.equal(code, 1);
      const [bad, shop] = JSON.parse(stdout) as {
        policy_set: string;
        valid: boolean;
        diagnostics: { file: string; line: number; column: number; code: string }[];
      }[];
      assert.deepEqual([bad?.policy_set, bad?.valid], ["bad", false]);
      const unknown = bad?.diagnostics.find(({ code }) => code === "unknown-key");
      assert.deepEqual([unknown?.file, unknown?.line, unknown?.column], ["bad.yaml", 3, 5]);
      assert.deepEqual(shop, { policy_set: "shop", valid: true, diagnostics: [] });
      assert.equal((await policy("validate", "--json", "shop")).code, 0);
    });
    it("exits with 2 where there is no folder, and no set in it", async () => {
      await folder.add({ "empty/notes.md": "nothing", "empty/x.test.yaml": "", "empty/sub/notes.md": "" });
      for (const directory of ["nowhere", "empty"]) {
        const { code, stdout, stderr } = await policy("validate", "-d", directory);
        assert.deepEqual([code, stdout], [2, ""]);
        assert.match(stderr, new RegExp(directory));
      }
    });
    it("finds sets that are folders", async () => {
      await folder.add({
        "policies/many/a.yaml": GOOD.replace("shop", "many"),
        "policies/many/x.test.yaml": "",
      });
      const { code, stdout } = await policy("validate");
      assert.equal(code, 0);
      assert.match(stdout, /^many@v2: good/m);
    });
  });

  describe("fmt", () => {
    const UNTIDY = GOOD.replace('user.role == "admin" or', "user.role=='admin'   or");
    const read = (name: string) => readFile(join(folder.path, "policies", name), "utf8");

    it("writes what is untidy, once", async () => {
      await folder.add({
        "policies/shop.yaml": UNTIDY,
        "policies/folder/a.yaml": UNTIDY.replace("shop", "folder"),
      });
      const first = await policy("fmt");
      assert.deepEqual([first.code, first.stdout], [0, "folder/a.yaml\nshop.yaml\n"]);
      assert.match(await read("shop.yaml"), /user\.role == "admin" or user\.id == path\.id/);
      const text = await read("shop.yaml");
      assert.deepEqual(await policy("fmt"), { code: 0, stdout: "", stderr: "" });
      assert.equal(await read("shop.yaml"), text);
      assert.equal((await policy("fmt", "--check")).code, 0);
      assert.deepEqual((await readdir(join(folder.path, "policies"))).sort(), ["folder", "shop.yaml"]);
    });
    it("changes no meaning", async () => {
      await folder.add({ "policies/shop.yaml": UNTIDY });
      const before = await policy("validate");
      await policy("fmt");
      assert.deepEqual(await policy("validate"), before);
    });
    it("with --check only says so, and exits with 1", async () => {
      await folder.add({ "policies/shop.yaml": UNTIDY });
      const { code, stdout } = await policy("fmt", "--check");
      assert.deepEqual([code, stdout], [1, "shop.yaml\n"]);
      assert.equal(await read("shop.yaml"), UNTIDY);
    });
    it("leaves alone what it cannot read, and says why", async () => {
      const text = "policies:\n  - { resource: GET /x\n";
      await folder.add({ "policies/bad.yaml": text });
      const { code, stderr } = await policy("fmt");
      assert.equal(code, 1);
      assert.match(stderr, /bad\.yaml:\d+:\d+: error: /);
      assert.equal(await read("bad.yaml"), text);
      const missing = await policy("fmt", "nowhere");
      assert.equal(missing.code, 1);
      assert.match(missing.stderr, /not found/);
    });
  });

  describe("test", () => {
    const suite = (expected: string) => `policy_set: shop
people:
  admin: { id: u-1, role: admin }
  viewer: { id: u-2, role: viewer }
matrix:
  - name: orders
    people: [admin, viewer, none]
    requests:
      GET /orders/u-2: [allow, allow, ${expected}]
      GET /orders/u-3: [allow, deny, deny]
      GET /open: [allow, allow, allow]
`;

    it("passes", async () => {
      await folder.add({ "policies/shop.test.yaml": suite("deny") });
      const { code, stdout, stderr } = await policy("test");
      assert.deepEqual([code, stderr], [0, ""]);
      assert.match(stdout, /^shop\.test\.yaml: 9 passed, 0 failed$/m);
      assert.match(stdout, /^policy set shop: 2 of 2 conditions reached/m);
    });
    it("fails with the explanation, exits with 1, and writes a JUnit file", async () => {
      await folder.add({ "policies/shop.test.yaml": suite("allow") });
      const { code, stdout } = await policy("test", "--junit", "report.xml");
      assert.equal(code, 1);
      assert.match(stdout, /8 passed, 1 failed/);
      assert.match(stdout, /IDENTITY_REQUIRED/);
      const report = await readFile(join(folder.path, "report.xml"), "utf8");
      assert.match(report, /^<\?xml /);
      assert.match(report, /<testsuites [^>]*tests="9" failures="1" errors="0"/);
      assert.equal([...report.matchAll(/<failure /g)].length, 1);
    });
    it("fails for a rule that was never seen otherwise only where that is asked for", async () => {
      await folder.add({ "policies/shop.test.yaml": suite("deny") });
      assert.equal((await policy("test", "--require-coverage")).code, 0);
      const few = suite("deny")
        .replace(/ {6}GET \/orders\/u-3.*\n/, "")
        .replace(/, none\]/, "]")
        .replaceAll(/, (deny|allow)\]/g, "]");
      await folder.add({ "policies/shop.test.yaml": few });
      assert.equal((await policy("test")).code, 0);
      const { code, stdout } = await policy("test", "--require-coverage");
      assert.equal(code, 1, stdout);
      assert.match(stdout, /policies\[0\] \(read\): /);
    });
    it("exits with 2 for no suite, 1 for a broken suite or set", async () => {
      const none = await policy("test");
      assert.deepEqual([none.code, none.stdout], [2, ""]);
      assert.match(none.stderr, /no \*\.test\.yaml/);
      const missing = await policy("test", "nowhere.test.yaml");
      assert.equal(missing.code, 2);
      assert.match(missing.stderr, /cannot read `nowhere\.test\.yaml`/);
      assert.equal((await policy("test", "-d", "nowhere")).code, 2);

      await folder.add({ "policies/shop.test.yaml": "policy_set: shop\ntestz: []\n" });
      const broken = await policy("test");
      assert.equal(broken.code, 1);
      assert.match(broken.stderr, /shop\.test\.yaml:2:1: error: /);

      await folder.add({ "policies/shop.test.yaml": suite("deny"), "policies/shop.yaml": BROKEN });
      const brokenSet = await policy("test");
      assert.equal(brokenSet.code, 1);
      assert.match(brokenSet.stderr, /shop\.yaml:3:5: error: /);
      assert.match(brokenSet.stderr, /\^{8}/);
    });
    it("decides with headers, bodies, looked-up attributes and times", async () => {
      await folder.add({
        "policies/shop.yaml": `attributes:
  target: { source: users, key: path.id }
policies:
  - { resource: "POST /u/{id}", condition: target.dept == user.dept and request.body.n == 1 }
  - { resource: "GET /when", condition: 'env.time == "2026-01-31T12:00:00Z" and env.environment == "test"' }
  - { resource: "GET /tier", condition: 'request.headers["x-tier"].includes("é")' }
`,
        "policies/shop.test.yaml": `policy_set: shop
tests:
  - name: a colleague
    request: { method: POST, path: /u/7, body: { n: 1 } }
    user: { id: u-1, dept: sales }
    attributes: { target: { dept: sales } }
    expect: allow
  - name: no directory
    request: { method: POST, path: /u/7, body: { n: 1 } }
    user: { id: u-1, dept: sales }
    attributes: { target: unavailable }
    expect: deny
    reason: CONDITION_UNKNOWN
  - name: the moment
    request: GET /when
    env: { time: "2026-01-31T12:00:00Z", environment: test }
    expect: allow
  - name: another moment
    request: GET /when
    env: { time: "2026-01-31T12:00:01Z", environment: test }
    expect: deny
  - name: a header
    request: { method: GET, path: /tier, headers: { x-tier: é } }
    expect: allow
`,
      });
      const { code, stdout, stderr } = await policy("test");
      assert.deepEqual([code, stderr], [0, ""], stdout);
    });
  });

  describe("explain", () => {
    const explain = (...args: string[]) => policy("explain", "-s", "shop", ...args);

    it("says how and why, and exits with 0 whatever the answer", async () => {
      const user = '{"id":"u-1","role":"viewer"}';
      const denied = await explain("-r", "GET /orders/u-2", "-u", user);
      assert.deepEqual([denied.code, denied.stderr], [0, ""]);
      assert.match(denied.stdout, /^DENY \(403\) CONDITION_FALSE: /);
      assert.match(denied.stdout, /policy set shop@v2/);
      assert.match(denied.stdout, /user\.role is "viewer"/);
      const allowed = await explain("-r", "GET /orders/u-1", "-u", user);
      assert.match(allowed.stdout, /^ALLOW CONDITION_TRUE: /);
      assert.match((await explain("-r", "GET /orders/u-1")).stdout, /^DENY \(401\) IDENTITY_REQUIRED/);
      assert.match((await explain("-r", "GET /a//b")).stdout, /^DENY \(400\) AMBIGUOUS_PATH/);
    });
    it("gives JSON", async () => {
      const { code, stdout } = await explain("-r", "GET /orders/u-2", "-u", '{"role":"admin"}', "--json");
      assert.equal(code, 0);
      const answer = JSON.parse(stdout) as Record<string, unknown> & { rule: { name: string } };
      assert.deepEqual(
        [answer["decision"], answer["reason"], answer["status"]],
        ["ALLOW", "CONDITION_TRUE", 200],
      );
      assert.equal(answer.rule.name, "read");
    });
    it("takes headers, a body, a customer, looked-up attributes and a time", async () => {
      await folder.add({
        "policies/shop.yaml": `attributes:
  target: { source: users, key: path.id }
policies:
  - resource: "POST /u/{id}"
    condition: >-
      target.dept == "é" and request.body.n == 1 and customer.id == "c-1" and
      request.headers["x-tier"].includes("gold: é") and env.date == "2026-01-31"
`,
      });
      const all = ["-r", "POST /u/1", "-H", "X-Tier: gold: é", "--body", '{"n":1}', "-u", "{}"];
      all.push("--customer", '{"id":"c-1"}', "--time", "2026-01-31T12:00:00Z");
      const known = await explain(...all, "--attributes", '{"target":{"dept":"é"}}');
      assert.match(known.stdout, /^ALLOW CONDITION_TRUE/, known.stderr);
      assert.match((await explain(...all)).stdout, /target\.dept is unavailable/);
      const none = await explain(...all, "--attributes", '{"target":null}');
      assert.match(none.stdout, /target\.dept is missing/);
    });
    it("compares numbers as the gateway does", async () => {
      await folder.add({
        "policies/shop.yaml": `policies:
  - { resource: "GET /n", condition: user.account == customer.account }
`,
      });
      const asked = async (own: string, other: string) =>
        (await explain("-r", "GET /n", "-u", `{"account":${own}}`, "--customer", `{"account":${other}}`))
          .stdout;
      assert.match(await asked("9007199254740992", "9007199254740992"), /^ALLOW CONDITION_TRUE/);
      assert.match(await asked("9007199254740993", "9007199254740992"), /^DENY \(403\) CONDITION_UNKNOWN/);
    });
    it("says what becomes of a request whose caller is known by a cookie", async () => {
      await folder.add({
        "policies/shop.yaml": `policies:
  - { resource: "POST /me", condition: exists(user.id) }
  - { resource: "POST /open", condition: "true" }
`,
      });
      const by = ["-u", '{"id":"u-1"}', "--cookie"];
      const evil = ["-H", "Sec-Fetch-Site: cross-site", "-H", "Origin: https://evil.test"];
      const denied = await explain("-r", "POST /me", ...by, ...evil);
      assert.match(
        denied.stdout,
        /^DENY \(403\) ORIGIN_NOT_TRUSTED: .*`cross-site`, origin `https:\/\/evil\.test`/,
      );
      const open = await explain("-r", "POST /open", ...by, ...evil);
      assert.match(
        open.stdout,
        /^ALLOW CONDITION_TRUE: .*the cookie is ignored: sec-fetch-site is `cross-site`/,
      );
      for (const good of [
        [...by, "-H", "Sec-Fetch-Site: same-origin"],
        [...by, ...evil, "--trusted-origin", "https://evil.test"],
        ["-u", '{"id":"u-1"}', ...evil],
      ])
        assert.match((await explain("-r", "POST /me", ...good)).stdout, /^ALLOW CONDITION_TRUE/);
    });
    const bad: readonly [string[], RegExp][] = [
      [["-r", "GET /x", "--cookie"], /--cookie needs --user/],
      [["-r", "GET /x", "--trusted-origin", "https://a.test"], /--trusted-origin needs --cookie/],
      [["-r", "GET /x", "--cookie", "--trusted-origin", "a.test"], /is not an origin such as/],
      [["-r", "GET"], /`GET` is not a method and a path/],
      [["-r", "GET /x", "-H", "nothing"], /`nothing` is not a header/],
      [["-r", "GET /x", "--time", "noon"], /`noon` is not a time/],
      [["-r", "GET /x", "-u", "[]"], /is not a JSON object/],
      [["-r", "GET /x", "-u", "{"], /is not a JSON object/],
      [["-r", "GET /x", "-u", '{"id":"a","id":"b"}'], /is not a JSON object/],
      [[], /exactly one of --request, --graphql, --websocket and --request-id/],
      [
        ["-r", "GET /x", "--graphql", "{ a }"],
        /exactly one of --request, --graphql, --websocket and --request-id/,
      ],
      [["-r", "GET /x", "--message", "{}"], /--message and --receive need --websocket/],
      [["--websocket", "/ws", "--response", "{}"], /for a WebSocket use --receive/],
      [["-r", "GET /x", "--response-status", "99"], /is not a status/],
      [["-r", "GET /open", "--response", "nowhere.json"], /cannot read `nowhere\.json`/],
    ];
    for (const [args, message] of bad) {
      it(`exits with 2 for ${args.join(" ")}`, async () => {
        const { code, stdout, stderr } = await explain(...args);
        assert.deepEqual([code, stdout], [2, ""]);
        assert.match(stderr, message);
      });
    }
    it("exits with 1 for a broken set, with its findings", async () => {
      await folder.add({ "policies/shop.yaml": BROKEN });
      const { code, stderr } = await explain("-r", "GET /x");
      assert.equal(code, 1);
      assert.match(stderr, /shop\.yaml:3:5: error: /);
    });
  });
});
