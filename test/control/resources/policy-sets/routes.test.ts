import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Actor } from "../../../../src/control/platform/actor.ts";
import { customerRoutes } from "../../../../src/control/resources/customers/routes.ts";
import { createGatewayFeed } from "../../../../src/control/gateway/feed.ts";
import { gatewayRoutes } from "../../../../src/control/gateway/routes.ts";
import {
  createPolicySetCompiler,
  MAX_SET_BYTES,
} from "../../../../src/control/resources/policy-sets/compiler.ts";
import { policySetRoutes } from "../../../../src/control/resources/policy-sets/routes.ts";
import type { NewEvent } from "../../../../src/control/platform/events.ts";
import type { PolicyFile } from "../../../../src/policy/index.ts";
import { FULL_KEY, startControl, type Answered, type RunningControl } from "../../../support/control.ts";
import { setOf, yaml } from "../../support/policy-files.ts";

describe("policy sets", () => {
  let control: RunningControl;
  const events: NewEvent[] = [];
  let count = 0;
  let name: string;

  before(async () => {
    control = await startControl({
      routes: (context) => [
        ...customerRoutes(context),
        ...policySetRoutes(context, createPolicySetCompiler()),
        ...gatewayRoutes(context, createGatewayFeed(context)),
      ],
      writers: {
        events: (_trx, stored) => {
          events.push(...stored.map(({ type, data }) => ({ type, data })));
          return Promise.resolve();
        },
        deliveries: () => Promise.resolve(),
      },
    });
  });
  after(() => control.close());
  beforeEach(() => {
    count += 1;
    name = `set-${count}`;
    events.length = 0;
  });

  function publish(files: readonly PolicyFile[], more: object = {}): Promise<Answered> {
    return control.request("POST", "/policy-sets", { body: { name, files, ...more } });
  }
  function validate(files: readonly PolicyFile[], more: object = {}): Promise<Answered> {
    return control.request("POST", "/policy-sets/validate", { body: { files, ...more } });
  }
  async function read(): Promise<Record<string, unknown>> {
    return (await control.request("GET", `/policy-sets/${name}`)).body.data as Record<string, unknown>;
  }
  async function activations(): Promise<number> {
    return (await control.database.db("gateway_changes").where({ policy_set: name })).length;
  }

  describe("validate", () => {
    it("describes a valid set and keeps nothing", async () => {
      const answer = await validate(setOf("v3"), { name });
      assert.equal(answer.status, 200, answer.text);
      const { digest, ...data } = answer.body.data as Record<string, unknown>;
      assert.deepEqual(data, { valid: true, name, version: "v3", rules: 1, diagnostics: [], rendered: "" });
      assert.match(String(digest), /^[0-9a-f]{64}$/);
      assert.equal((await control.request("GET", `/policy-sets/${name}`)).status, 404);
    });

    it("reports what the command line reports, all at once", async () => {
      const text =
        'policies:\n  - resorce: "GET /a"\n    condition: user.role = "x"\n  - resource: "GET a"\n';
      const folder = await mkdtemp(join(tmpdir(), "gatehouse-validate-"));
      try {
        await writeFile(join(folder, "main.yaml"), text);
        const gatehouse = new URL("../../../../bin/gatehouse.js", import.meta.url).pathname;
        const command = promisify(execFile)(process.execPath, [
          gatehouse,
          "policy",
          "validate",
          "main",
          "-d",
          folder,
        ]);
        const { stdout } = (await command.catch((error: unknown) => error)) as { stdout: string };
        const answer = await validate(yaml(text), { name: "main" });
        assert.equal(answer.status, 200);
        assert.equal(answer.body.data.valid, false);
        assert.equal(`${answer.body.data.rendered.trimEnd()}\nmain: has errors\n`, stdout);
        const [first] = answer.body.data.diagnostics as Record<string, unknown>[];
        assert.ok(answer.body.data.diagnostics.length >= 3);
        assert.equal(first?.["file"], "main.yaml");
        assert.equal(first["line"], 2);
      } finally {
        await rm(folder, { recursive: true });
      }
    });

    it("answers hostile YAML with diagnostics", async () => {
      const bomb = ["a: &a [x, x, x, x, x, x, x, x, x, x]"];
      for (let level = 0; level < 12; level += 1) {
        const last = String.fromCharCode(97 + level);
        const next = String.fromCharCode(98 + level);
        bomb.push(`${next}: &${next} [${Array.from({ length: 10 }, () => `*${last}`).join(", ")}]`);
      }
      const cases: [string, string][] = [
        ["aliases", bomb.join("\n")],
        ["flow depth", `policies: ${"[".repeat(20_000)}${"]".repeat(20_000)}`],
        ["block depth", Array.from({ length: 500 }, (_, depth) => `${" ".repeat(depth)}a:`).join("\n")],
        [
          "condition depth",
          `policies:\n  - resource: "GET /"\n    condition: "${"(".repeat(50_000)}true${")".repeat(50_000)}"`,
        ],
        ["tag", "policies: !!js/function 'function () {}'"],
        ["prototype", "__proto__:\n  polluted: true\npolicies: []"],
        ["two documents", "policies: []\n---\npolicies: []"],
        ["no YAML", "\t:\t{[,"],
        ["empty", ""],
        ["size", `# ${"x".repeat(MAX_SET_BYTES)}`],
      ];
      for (const [what, text] of cases) {
        const answer = await validate(yaml(text));
        assert.equal(answer.status, 200, `${what}: ${answer.text.slice(0, 300)}`);
        assert.equal(answer.body.data.valid, false, what);
        assert.ok(answer.body.data.diagnostics.length > 0, what);
        assert.equal((await publish(yaml(text))).body.error.code, "POLICY_SET_INVALID", what);
      }
      assert.equal(({} as { polluted?: unknown }).polluted, undefined);
    });

    it("refuses bodies that are no files", async () => {
      const file = { name: "a.yaml", text: "" };
      const cases: [unknown, string][] = [
        [[], "files"],
        [[file, file], "files"],
        [[{ ...file, name: "../a.yaml" }], "files.0.name"],
        [[{ ...file, name: "/a.yaml" }], "files.0.name"],
        [[{ ...file, name: "a.sh" }], "files.0.name"],
        [[{ name: "a.yaml" }], "files.0.text"],
        [Array.from({ length: 201 }, (_, index) => ({ ...file, name: `a${index}.yaml` })), "files"],
      ];
      for (const [files, path] of cases) {
        const answer = await control.request("POST", "/policy-sets/validate", { body: { files } });
        assert.equal(answer.status, 422);
        assert.equal(answer.body.error.details.fields[0].path, path);
      }
    });
  });

  describe("publish", () => {
    it("keeps a version, activates it, and tells of it", async () => {
      const answer = await publish(setOf("v1"));
      assert.equal(answer.status, 201, answer.text);
      assert.equal(answer.headers.get("location"), `/v1/policy-sets/${name}/versions/v1`);
      const { digest, active, published_by } = answer.body.data as Record<string, unknown>;
      assert.equal(active, true);
      assert.deepEqual(published_by, { kind: "api_key", id: FULL_KEY.id, name: FULL_KEY.name });
      assert.deepEqual(events, [
        { type: "policy_set.published", data: { policy_set: { name, version: "v1", digest } } },
      ]);
      assert.equal(await activations(), 1);
      const set = await read();
      assert.equal(set["active_version"], "v1");
      assert.equal(set["active_digest"], digest);
      assert.equal(set["versions"], 1);
      const served = await control.request("GET", `/gateway/policy-sets/${name}`);
      assert.deepEqual(served.body.data, { name, version: "v1", digest, files: setOf("v1") });
      const kept = await control.request("GET", `/policy-sets/${name}/versions/v1`);
      assert.deepEqual(kept.body.data.files, setOf("v1"));
    });

    it("changes nothing for the same content, layout aside", async () => {
      await publish(setOf("v1"));
      const before = await read();
      const [file] = setOf("v1");
      const again = await publish([{ name: "other.yaml", text: `# a comment\n${file?.text ?? ""}` }]);
      assert.equal(again.status, 200, again.text);
      assert.deepEqual(await read(), before);
      assert.equal(events.length, 1);
      assert.equal(await activations(), 1);
    });

    it("refuses other content under a version that is taken", async () => {
      await publish(setOf("v1"));
      const answer = await publish(setOf("v1", "viewer"));
      assert.equal(answer.status, 409);
      assert.equal(answer.body.error.code, "VERSION_IMMUTABLE");
      const kept = await control.request("GET", `/policy-sets/${name}/versions/v1`);
      assert.deepEqual(kept.body.data.files, setOf("v1"));
    });

    it("lets one of two contents win that are published at once", async () => {
      const roles = ["a", "b", "c", "d"];
      const answers = await Promise.all(roles.map((role) => publish(setOf("v1", role))));
      assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409, 409, 409]);
      const winner = roles[answers.findIndex(({ status }) => status === 201)];
      const kept = await control.request("GET", `/policy-sets/${name}/versions/v1`);
      assert.deepEqual(kept.body.data.files, setOf("v1", winner));
    });

    it("refuses a set with errors, and a set that calls itself otherwise", async () => {
      const invalid = await publish(yaml("policies: 1"));
      assert.equal(invalid.status, 422);
      assert.equal(invalid.body.error.code, "POLICY_SET_INVALID");
      assert.ok(invalid.body.error.details.diagnostics.length > 0);
      assert.match(invalid.body.error.details.rendered as string, /^main\.yaml:1:/);
      const misnamed = await publish([
        { name: "main.yaml", text: `policy_set: another\n${setOf("v1")[0]!.text}` },
      ]);
      assert.equal(misnamed.status, 422);
      assert.equal(misnamed.body.error.details.diagnostics[0].code, "other-name");
      assert.equal((await control.request("GET", `/policy-sets/${name}`)).status, 404);
    });

    it("does not activate where it shall not", async () => {
      await publish(setOf("v1"), { activate: false });
      assert.equal((await read())["active_version"], null);
      assert.equal((await control.request("GET", `/gateway/policy-sets/${name}`)).status, 404);
      assert.equal(await activations(), 0);
      await publish(setOf("v2"));
      await publish(setOf("v3"), { activate: false });
      assert.equal((await read())["active_version"], "v2");
    });

    it("takes a set of 10,000 rules", async () => {
      const rules = Array.from(
        { length: 10_000 },
        (_, index) =>
          `  - resource: "GET /api/service-${index}/items/{item_id}"\n    condition: user.role == "role-${index}"\n`,
      );
      const answer = await publish(yaml(`version: v1\npolicies:\n${rules.join("")}`));
      assert.equal(answer.status, 201, answer.text.slice(0, 500));
      assert.equal(answer.body.data.rules, 10_000);
      const served = await control.request("GET", `/gateway/policy-sets/${name}`);
      assert.equal(served.body.data.digest, answer.body.data.digest);
    });

    it("is done once for one Idempotency-Key", async () => {
      const headers = { "idempotency-key": `publish-${name}` };
      const body = { name, files: setOf("v1") };
      const both = await Promise.all(
        [1, 2].map(() => control.request("POST", "/policy-sets", { body, headers })),
      );
      assert.deepEqual(
        both.map(({ status }) => status),
        [201, 201],
      );
      assert.equal(events.length, 1);
    });
  });

  describe("activate and roll back", () => {
    const activate = (version: string, headers: Record<string, string> = {}) =>
      control.request("POST", `/policy-sets/${name}/activate`, { body: { version }, headers });
    const rollBack = () => control.request("POST", `/policy-sets/${name}/rollback`);

    it("undoes one activation after the other", async () => {
      for (const version of ["v1", "v2", "v3"]) await publish(setOf(version));
      assert.equal((await activate("v1")).body.data.active_version, "v1");
      assert.equal((await rollBack()).body.data.active_version, "v3");
      const second = await rollBack();
      assert.equal(second.body.data.active_version, "v2");
      assert.equal(second.body.data.previous_version, "v1");
      assert.equal((await rollBack()).body.data.active_version, "v1");
      const none = await rollBack();
      assert.equal(none.status, 409);
      assert.equal(none.body.error.code, "CONFLICT");
      assert.equal((await read())["active_version"], "v1");
      assert.equal((await control.request("GET", `/gateway/policy-sets/${name}`)).body.data.version, "v1");
    });

    it("changes nothing where the version is active", async () => {
      await publish(setOf("v1"));
      const before = await read();
      assert.equal((await activate("v1")).status, 200);
      assert.deepEqual(await read(), before);
      assert.equal(await activations(), 1);
    });

    it("refuses versions and sets that are not there, and other ETags", async () => {
      await publish(setOf("v1"));
      await publish(setOf("v2"));
      const missing = await activate("v9");
      assert.equal(missing.status, 404);
      assert.equal(missing.body.error.code, "POLICY_SET_NOT_FOUND");
      const etag = (await control.request("GET", `/policy-sets/${name}`)).headers.get("etag")!;
      assert.equal((await activate("v1", { "if-match": etag })).status, 200);
      assert.equal((await activate("v2", { "if-match": etag })).status, 412);
      name = "not-there";
      assert.equal((await activate("v1")).status, 404);
      assert.equal((await rollBack()).status, 404);
    });
  });

  describe("list", () => {
    it("pages through sets and versions", async () => {
      for (const version of ["v1", "v2", "v3"]) await publish(setOf(version));
      const sets = await control.request("GET", "/policy-sets?sort=name&order=asc&limit=100");
      const own = (sets.body.data as { name: string; versions: number }[]).find((set) => set.name === name);
      assert.equal(own?.versions, 3);
      assert.equal(sets.body.pagination.total_items, sets.body.data.length);
      const versions = await control.request(
        "GET",
        `/policy-sets/${name}/versions?sort=version&order=asc&limit=2`,
      );
      assert.deepEqual(
        (versions.body.data as { version: string; active: boolean }[]).map(({ version, active }) => [
          version,
          active,
        ]),
        [
          ["v1", false],
          ["v2", false],
        ],
      );
      assert.equal(versions.body.pagination.total_items, 3);
      assert.equal(versions.body.data[0].files, undefined);
      assert.equal((await control.request("GET", "/policy-sets/none/versions")).status, 404);
    });
  });

  it("is not for keys of one customer, nor for keys that may not configure", async () => {
    const limited: Actor = { ...FULL_KEY, customerId: "cus_01h00000000000000000000000" };
    const reader: Actor = { ...FULL_KEY, scope: "read_only" };
    const body = { name, files: setOf("v1") };
    assert.equal((await control.request("POST", "/policy-sets", { body, as: limited })).status, 403);
    assert.equal((await control.request("GET", "/policy-sets", { as: limited })).status, 403);
    assert.equal((await control.request("POST", "/policy-sets", { body, as: reader })).status, 403);
    assert.equal((await control.request("GET", "/policy-sets", { as: reader })).status, 200);
    assert.equal((await control.request("GET", `/gateway/policy-sets/${name}`, { as: reader })).status, 403);
  });

  it("is warned of rules that have no effect", async () => {
    const files = yaml(
      'policies:\n  - { resource: "GET /a/{id}", condition: user.x == user.y }\n' +
        "  - { resource: GET /a/b, condition: user.y == user.x }\n" +
        "response_masks:\n  - { api_pattern: GET /b, fields: [{ name: n, mask_type: full, condition: true }] }\n",
    );
    for (const { body } of [await validate(files), await publish(files)])
      assert.deepEqual(
        body.data.diagnostics.map(({ code }: { code: string }) => code),
        ["redundant-rule", "unused-response-rule"],
      );
  });

  it("is warned of permits by a role alone once several customers have identity providers", async () => {
    const files = yaml('policies:\n  - { resource: GET /a, condition: user.role == "admin" }\n');
    const codes = async () => {
      const answers = [await validate(files), await publish(files)];
      return answers.map(({ body }) => body.data.diagnostics.map(({ code }: { code: string }) => code));
    };
    const ids: string[] = [];
    for (const domain of ["a.example.com", "b.example.com"]) {
      assert.deepEqual(await codes(), [[], []]);
      const made = await control.request("POST", "/customers", { body: { name: domain } });
      const body = { type: "oidc", domain, client_id: "c", client_secret: "s", verify: false };
      const idp = await control.request("POST", `/customers/${made.body.data.id}/idp`, { body });
      assert.equal(idp.status, 201, idp.text);
      ids.push(made.body.data.id);
    }
    // another set: what was published stays as it was
    name = `${name}-later`;
    assert.deepEqual(await codes(), [["role-without-customer"], ["role-without-customer"]]);
    for (const id of ids) await control.request("DELETE", `/customers/${id}`);
    assert.deepEqual((await validate(files)).body.data.diagnostics, []);
  });
});
