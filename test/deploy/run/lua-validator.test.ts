import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { leaveOut } from "../../support/programs.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { luaValidator } from "../support/lua-validator.ts";
import { goModule } from "../support/schemas.ts";

const run = promisify(execFile);
const CLI = fileURLToPath(new URL("../../../bin/gatehouse.js", import.meta.url));

/** The scripts of the Lua filters in the printed bootstrap, by the filters' names. */
async function filterScripts(): Promise<ReadonlyMap<string, string>> {
  const folder = await temporaryDirectory();
  const config = "gateway: { backend: 'http://127.0.0.1:3000' }\n";
  await writeFile(join(folder, "gateway.yaml"), config);
  const { stdout } = await run(process.execPath, [CLI, "envoy-config"], { cwd: folder, maxBuffer: 1e8 });
  interface Filter {
    readonly name: string;
    readonly typed_config: {
      readonly default_source_code?: { readonly inline_string?: string; readonly filename?: string };
    };
  }
  const bootstrap = JSON.parse(stdout) as {
    static_resources: {
      listeners: { filter_chains: { filters: { typed_config: { http_filters: Filter[] } }[] }[] }[];
    };
  };
  const filters =
    bootstrap.static_resources.listeners[0]?.filter_chains[0]?.filters[0]?.typed_config.http_filters ?? [];
  const scripts = new Map<string, string>();
  for (const { name, typed_config: config } of filters) {
    const { inline_string: text, filename } = config.default_source_code ?? {};
    if (text !== undefined) scripts.set(name, text);
    else if (filename !== undefined) scripts.set(name, await readFile(filename, "utf8"));
  }
  return scripts;
}

/** What the README of `deploy/envoy-gateway` says about its validator. */
describe("deploy: Lua in an EnvoyExtensionPolicy of Envoy Gateway", function () {
  this.timeout(300_000);
  const gateway = goModule("github.com/envoyproxy/gateway@v1.9.1");
  if (gateway === undefined) {
    leaveOut("Envoy Gateway's validator of Lua", "Go", "is not installed, or finds no modules");
    return;
  }
  let validate: Awaited<ReturnType<typeof luaValidator>>;
  let scripts: ReadonlyMap<string, string>;
  before(async () => {
    [validate, scripts] = await Promise.all([luaValidator(gateway), filterScripts()]);
  });

  it("has the modes that the copy of its types has, with Strict as the default", async () => {
    const types = await readFile(join(gateway, "api/v1alpha1/envoyproxy_types.go"), "utf8");
    for (const mode of ["Strict", "InsecureSyntax", "Disabled"])
      assert.match(types, new RegExp(`LuaValidation${mode} +LuaValidation = "${mode}"`));
  });

  it("Strict refuses what the filters are made with", async () => {
    const uses: Readonly<Record<string, string>> = {
      require: `local json = require("gatehouse.json")`,
      package: `package.preload["x"] = function() end`,
      ffi: `local ffi = require("ffi")`,
      "string.buffer": `local buffer = require("string.buffer")`,
      setmetatable: `local object = setmetatable({}, {})`,
      loadstring: `local loaded = loadstring("return 1")`,
    };
    const script = (line: string) => `function envoy_on_response(handle)\n${line}\nend\n`;
    const said = await validate("Strict", Object.values(uses).map(script));
    for (const [index, name] of Object.keys(uses).entries())
      assert.match(said[index] ?? "", /attempt to (call|index) a non-(function|table) object/, name);
    // it does accept others
    assert.deepEqual(await validate("Strict", [script(`handle:headers():add("x", "y")`)]), [""]);
  });

  it("Strict refuses each of the filters, and InsecureSyntax accepts them", async () => {
    assert.equal(scripts.size, 5);
    const all = [...scripts.values()];
    for (const [index, said] of (await validate("Strict", all)).entries())
      assert.match(said, /attempt to index a non-table object\(nil\)/, [...scripts.keys()][index]);
    assert.deepEqual(
      await validate("InsecureSyntax", all),
      all.map(() => ""),
    );
  });
});
