import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { ValidateFunction } from "ajv";
import { dump, load } from "js-yaml";
import { compilePolicySet } from "../../../src/policy/index.ts";
import { policyFileSchema } from "../../../src/policy/read/json-schema.ts";
import { committedSchema } from "../../support/json-schema.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** A file that has every key. */
const EVERYTHING = {
  policy_set: "all",
  version: "v1",
  default: "deny",
  preflight: "allow",
  audit: "required",
  cors: {
    ...{ origins: ["https://app.example.com"], credentials: true, methods: ["GET"], headers: ["x-a"] },
    max_age: 60,
  },
  attributes: { account: { source: "accounts", key: "path.id", types: { owner: "string" }, open: true } },
  graphql: {
    ...{
      paths: ["/graphql"],
      other_paths: ["GET /graphql/health"],
      multipart: "deny",
      introspection: "deny",
    },
    limits: { depth: 3, aliases: 0, root_fields: 2, tokens: 100 },
  },
  policies: [
    { name: "a", audit: "required", resource: "GET /a/{id}", condition: "account.owner == user.id" },
  ],
  web_policies: [{ path: "/web/*", condition: true }],
  response_filters: [
    {
      endpoint: "/a/*",
      other_types: "pass",
      filter_rules: [{ field: "ssn", condition: "exists(user.id)", action: "mask", replacement: "" }],
    },
  ],
  response_masks: [
    { api_pattern: "GET /a/*", fields: [{ name: "$.a.b", condition: "exists(user.id)", mask_type: "full" }] },
  ],
  graphql_policies: [{ query: "me", condition: "exists(user.id)", on_deny: "null" }],
  websocket_policies: [
    {
      connection: { path: "/feed", condition: "exists(user.id)" },
      message_types: [
        { type: "chat", direction: "send", condition: "message.x == 1", on_deny: "close" },
        {
          ...{ type: "news", direction: "receive", condition: "exists(user.id)" },
          fields: [{ name: "a", condition: "exists(user.id)", mask_type: "full" }],
        },
      ],
    },
  ],
};

describe("the JSON Schema of policy files", () => {
  let validate: ValidateFunction;
  before(() => {
    validate = committedSchema("policies.schema.json", policyFileSchema());
  });

  const errorsOf = (document: unknown): readonly string[] => {
    const { diagnostics } = compilePolicySet([{ name: "a.yaml", text: dump(document) }], { name: "all" });
    return diagnostics.filter(({ severity }) => severity === "error").map(({ message }) => message);
  };

  it("permits every file that this project ships, and names it in each", () => {
    const files = globSync("{policies,deploy}/**/*.yaml", { cwd: ROOT }).filter((file) =>
      /(^|\/)policies\//.test(file),
    );
    const policies = files.filter((file) => !file.endsWith(".test.yaml"));
    assert.ok(policies.length >= 3, policies.join(" "));
    for (const file of policies) {
      const text = readFileSync(`${ROOT}/${file}`, "utf8");
      assert.ok(validate(load(text)), `${file} ${JSON.stringify(validate.errors)}`);
      const up = "../".repeat(file.split("/").length - 1);
      assert.ok(
        text.startsWith(`# yaml-language-server: $schema=${up}schemas/policies.schema.json\n`),
        `${file} has no modeline`,
      );
    }
  });

  it("permits the policy files of the documentation", () => {
    let seen = 0;
    for (const page of globSync("docs/**/*.md", { cwd: ROOT })) {
      for (const [, block = ""] of readFileSync(`${ROOT}/${page}`, "utf8").matchAll(
        /^```yaml\n(.*?)^```/gms,
      )) {
        if (!/^(policies|web_policies|response_\w+|graphql_policies|websocket_policies):/m.test(block))
          continue;
        const document = load(block) as Record<string, unknown>;
        // a section of gateway.yaml has the same name
        if (!Array.isArray(Object.values(document)[0]) && !Array.isArray(document["policies"])) continue;
        seen += 1;
        assert.ok(validate(document), `${page}\n${block}\n${JSON.stringify(validate.errors)}`);
      }
    }
    assert.ok(seen >= 7, String(seen));
  });

  it("permits every key, and refuses another beside each, as the compiler does", () => {
    assert.deepEqual(errorsOf(EVERYTHING), []);
    assert.ok(validate(EVERYTHING), JSON.stringify(validate.errors));
    const mappings = [...mappingsIn(EVERYTHING, [])].filter(
      // whose keys are names
      (path) => !["attributes", "types"].includes(String(path.at(-1))),
    );
    assert.ok(mappings.length > 15);
    for (const path of mappings) {
      const wrong = structuredClone(EVERYTHING);
      const at = path.reduce<Record<PropertyKey, unknown>>(
        (value, step) => value[step] as Record<PropertyKey, unknown>,
        wrong as unknown as Record<PropertyKey, unknown>,
      );
      at["unheard_of"] = 1;
      assert.equal(validate(wrong), false, path.join("."));
      assert.ok(
        errorsOf(wrong).some((message) => message.includes("unheard_of")),
        path.join("."),
      );
    }
  });

  it("refuses words and types that the compiler refuses", () => {
    for (const change of [
      { default: "maybe" },
      { cors: { origins: [] } },
      { cors: { origins: ["https://a.example"], methods: ["get"] } },
      { graphql: { limits: { depth: 0 } } },
      { policies: [{ resource: "GET /a" }] },
      { policies: [{ condition: true }] },
      { policies: [{ resource: "GET /a", condition: 1 }] },
      { graphql_policies: [{ condition: true }] },
      { graphql_policies: [{ query: "a", mutation: "b", condition: true }] },
      { response_masks: [{ api_pattern: "/a", fields: [] }] },
      {
        response_masks: [{ api_pattern: "/a", fields: [{ name: "a", condition: true, mask_type: "some" }] }],
      },
      { attributes: { a: { types: { b: "text" } } } },
      { websocket_policies: [{ message_types: [] }] },
      {
        websocket_policies: [
          { connection: { condition: true }, message_types: [{ type: "a", condition: true, on_deny: "no" }] },
        ],
      },
    ]) {
      const document = {
        policy_set: "all",
        version: "v1",
        policies: [{ resource: "GET /x", condition: true }],
        ...change,
      };
      assert.equal(validate(document), false, JSON.stringify(change));
      assert.notDeepEqual(errorsOf(document), [], JSON.stringify(change));
    }
  });
});

/** Paths of all mappings. */
function* mappingsIn(value: unknown, path: readonly PropertyKey[]): Generator<readonly PropertyKey[]> {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) yield path;
  for (const [key, member] of Object.entries(value))
    yield* mappingsIn(member, [...path, Array.isArray(value) ? Number(key) : key]);
}
