import assert from "node:assert/strict";
import { compileTask } from "../../src/control/resources/policy-sets/compile-thread.ts";
import { FED_BY_CONFIGURATION } from "../support/provisions-fixture.ts";
import { folderOf, keptCommandLine, type Folder } from "./support.ts";

const GOOD = `policy_set: shop
version: v2
policies:
  - { resource: GET /open, condition: true }
`;
const BROKEN = `policies:
  - { resource: GET /open, condition: user.role = "admin" }
`;

describe("cli: policy validate", () => {
  const kept = keptCommandLine();
  let folder: Folder;

  beforeEach(async () => {
    folder = await folderOf({});
  });
  afterEach(() => folder.remove());
  after(kept.close);

  const policy = (...args: string[]) => kept.gatehouse(["policy", ...args], { cwd: folder.path });

  describe("conditions", () => {
    it("refuses misspelled members, types that never meet, and contradictions that give access", async () => {
      const rule = (condition: string) => `  - { resource: "GET /x", condition: '${condition}' }\n`;
      const declared = "attributes: { user: { types: { role: string } } }\npolicies:\n";
      for (const [condition, code] of [
        ['user.roel == "admin"', "unknown-attribute"],
        ['env.day == "monday"', "unknown-attribute"],
        ['env.hour > "8"', "type-mismatch"],
        ['user.role != "a" or user.role != "b"', "always-true"],
      ] as const) {
        await folder.add({ "policies/slip.yaml": declared + rule(condition) });
        const { code: exit, stdout } = await policy("validate", "slip", "--json");
        const [report] = JSON.parse(stdout) as { valid: boolean; diagnostics: { code: string }[] }[];
        assert.deepEqual(
          [exit, report?.valid, report?.diagnostics.map((one) => one.code)],
          [1, false, [code]],
        );
      }
      await folder.add({
        "policies/slip.yaml": declared.replace("} }", "}, open: true }") + rule("user.roel == 1"),
      });
      assert.equal((await policy("validate", "slip")).code, 0);
    });
    it("counts every rule, as the API does", async () => {
      await folder.add({ "policies/shop.yaml": FED_BY_CONFIGURATION });
      const { code, stdout } = await policy("validate");
      assert.equal(code, 0);
      const { set } = compileTask({ files: [{ name: "shop.yaml", text: FED_BY_CONFIGURATION }] });
      assert.equal(set?.rules, 9, "those of every section");
      assert.match(stdout, new RegExp(`^shop@v0: good, ${set.rules} rules, `));
    });
  });

  describe("validate --config", () => {
    const config = (keys: object) => ({
      "gateway.yaml": JSON.stringify({ policies: { directory: "policies" }, ...keys }),
    });
    const FED = {
      attribute_sources: {
        people: { type: "file", path: "p.json" },
        plans: { type: "file", path: "q.json" },
      },
      identity: { claims: { "user.tier": "tier", "user.badge": "badge" }, client_headers: ["x-user-plan"] },
    };

    it("finds what the configuration does not provide, with place, key and exit code 1", async () => {
      await folder.add({ "policies/shop.yaml": FED_BY_CONFIGURATION, ...config({}) });
      const { code, stdout } = await policy("validate", "--config", "gateway.yaml");
      assert.equal(code, 1);
      assert.match(stdout, /^shop\.yaml:6:5: error: `target` .* \[source-not-configured\]$/m);
      assert.match(stdout, /^ 6 \| {3}- name: colleagues\n {3}\| {5}\^$/m);
      assert.match(stdout, /^ {3}= configure `attribute_sources\.people`$/m);
      assert.match(stdout, /^shop\.yaml:10:5: error: .*`user\.badge`.* \[claim-not-mapped\]$/m);
      assert.match(stdout, /^shop: has errors$/m);
      const json = await policy("validate", "--json", "--config", "gateway.yaml");
      const [report] = JSON.parse(json.stdout) as {
        valid: boolean;
        diagnostics: { severity: string; code: string }[];
      }[];
      assert.deepEqual([json.code, report?.valid, report?.diagnostics.length], [1, false, 10]);
      assert.deepEqual(new Set(report?.diagnostics.map(({ severity }) => severity)), new Set(["error"]));
      assert.equal((await policy("validate")).code, 0, "without the configuration nobody knows");
    });
    it("finds nothing where it provides everything", async () => {
      const set = FED_BY_CONFIGURATION.replace(' or request.headers["x-user-role"] == "admin"', "");
      await folder.add({ "policies/shop.yaml": set, ...config(FED) });
      const { code, stdout } = await policy("validate", "--config", "gateway.yaml");
      assert.equal(code, 0, stdout);
      assert.match(stdout, /^shop@v0: good, 9 rules, /m);
    });
    it("warns of permits by a role alone where customers' identity providers say who has it", async () => {
      const rule = (condition: string) => GOOD.replace("condition: true", `condition: '${condition}'`);
      await folder.add({ "policies/shop.yaml": rule('user.role == "admin"'), ...config({}) });
      const alone = await policy("validate", "-c", "gateway.yaml");
      assert.deepEqual([alone.code, alone.stdout.includes("warning")], [0, false]);
      const connected = { control_plane: { url: "https://gatehouse.example.com", api_key: "gh_live_x" } };
      await folder.add(config(connected));
      const { code, stdout } = await policy("validate", "-c", "gateway.yaml");
      assert.equal(code, 0);
      assert.match(
        stdout,
        /^shop\.yaml:4:40: warning: `user\.role` permits this .* \[role-without-customer\]$/m,
      );
      await folder.add({ "policies/shop.yaml": rule('user.role == "admin" and user.customer_id == "c"') });
      assert.doesNotMatch((await policy("validate", "-c", "gateway.yaml")).stdout, /warning/);
    });
    it("takes the folder of the configuration, unless one is given", async () => {
      await folder.add({ "sets/other.yaml": GOOD, ...config({ policies: { directory: "sets" } }) });
      assert.match((await policy("validate", "-c", "gateway.yaml")).stdout, /^shop@v2: good/);
      await folder.add({ "policies/shop.yaml": BROKEN });
      assert.equal((await policy("validate", "-c", "gateway.yaml")).code, 0);
      assert.equal((await policy("validate", "-c", "gateway.yaml", "-d", "policies")).code, 1);
    });
    it("exits with 2 where the configuration cannot be read or is wrong", async () => {
      await folder.add(config({ identity: { claim: {} } }));
      for (const file of ["gateway.yaml", "nowhere.yaml"]) {
        const { code, stdout, stderr } = await policy("validate", "--config", file);
        assert.deepEqual([code, stdout], [2, ""]);
        assert.match(stderr, new RegExp(file));
      }
    });
  });
});
