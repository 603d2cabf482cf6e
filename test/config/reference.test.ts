import assert from "node:assert/strict";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { configReference, loadGatewayConfig } from "../../src/config/index.ts";
import { CONFIG_KEYS } from "../../src/config/keys.ts";

const page = fileURLToPath(new URL("../../docs/configuration.md", import.meta.url));
const sources = fileURLToPath(new URL("../../src", import.meta.url));

describe("configuration reference", () => {
  it("is fresh (GATEHOUSE_UPDATE=1 writes it)", () => {
    if (process.env["GATEHOUSE_UPDATE"] === "1") writeFileSync(page, configReference());
    assert.equal(readFileSync(page, "utf8"), configReference());
  });

  it("tells of every key what it is for, and has a name for its variable of its own", () => {
    for (const { name, description } of CONFIG_KEYS) assert.match(description, /^\S.*[.)]$/, name);
    assert.equal(new Set(CONFIG_KEYS.map(({ variable }) => variable)).size, CONFIG_KEYS.length);
  });

  it("shows defaults that are those in force", () => {
    const overrides = Object.fromEntries(
      CONFIG_KEYS.filter(({ fallback }) => fallback !== undefined).map(({ name, fallback }) => [
        name,
        fallback,
      ]),
    );
    const needed = { "identity.issuer": "https://l.test", "identity.audience": "a" };
    assert.deepEqual(
      loadGatewayConfig({ env: {}, overrides: { ...overrides, ...needed } }),
      loadGatewayConfig({ env: {}, overrides: needed }),
    );
  });

  it("names every key of the code: nothing else reads the environment", () => {
    const readers = readdirSync(sources, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .filter((name) => /\bprocess\s*(\.env\b|\[\s*["']env)/.test(readFileSync(join(sources, name), "utf8")));
    assert.deepEqual(readers, ["config/environment.ts"]);
  });
});
