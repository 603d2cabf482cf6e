import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { ValidateFunction } from "ajv";
import { load } from "js-yaml";
import { gatewayFileSchema } from "../../src/config/json-schema.ts";
import { CONFIG_KEYS, SECTIONS } from "../../src/config/keys.ts";
import { committedSchema } from "../support/json-schema.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

interface Described {
  readonly description?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Described>>;
  readonly additionalProperties?: unknown;
}

describe("the JSON Schema of gateway.yaml", () => {
  let validate: ValidateFunction;
  const schema = gatewayFileSchema() as Described;
  before(() => {
    validate = committedSchema("gateway.schema.json", schema);
  });

  it("has every key, with its description and default, and permits no other in a section", () => {
    for (const { path, name, description, fallback } of CONFIG_KEYS) {
      const key = path.reduce<Described | undefined>((at, step) => at?.properties?.[step], schema);
      assert.ok(key, name);
      assert.equal(key.description, description, name);
      assert.deepEqual(key.default, fallback, name);
    }
    for (const section of SECTIONS) assert.equal(validate({ [section]: { unheard_of: 1 } }), false, section);
    assert.equal(validate({ unheard_of: {} }), false);
  });

  it("permits every gateway.yaml that this project ships or shows", () => {
    const files = globSync("deploy/**/{gateway,authz,front-proxy}.yaml", { cwd: ROOT });
    assert.ok(files.length >= 3, files.join(" "));
    for (const file of files) {
      const text = readFileSync(`${ROOT}/${file}`, "utf8");
      // a chart's values are in `config`
      if (file.includes("helm/examples")) continue;
      assert.ok(validate(load(text)), `${file} ${JSON.stringify(validate.errors)}`);
      const up = "../".repeat(file.split("/").length - 1);
      assert.ok(
        text.startsWith(`# yaml-language-server: $schema=${up}schemas/gateway.schema.json\n`),
        `${file} has no modeline`,
      );
    }
    let seen = 0;
    for (const page of globSync("{docs/**/*,README}.md", { cwd: ROOT }))
      for (const [, block = ""] of readFileSync(`${ROOT}/${page}`, "utf8").matchAll(
        /^```yaml\n# gateway\.yaml\n(.*?)^```/gms,
      )) {
        seen += 1;
        assert.ok(validate(load(block)), `${page}\n${block}\n${JSON.stringify(validate.errors)}`);
      }
    assert.ok(seen > 5, String(seen));
  });

  it("refuses values that reading refuses", () => {
    for (const wrong of [
      { gateway: { listen_port: 70_000 } },
      { gateway: { listen_port: 1.5 } },
      { gateway: { upstream_timeout: "30" } },
      { gateway: { upstream_timeout: 30 } },
      { audit: { destination: "nowhere" } },
      { api: { publish_policies: "yes" } },
      { policies: [] },
    ])
      assert.equal(validate(wrong), false, JSON.stringify(wrong));
  });
});
