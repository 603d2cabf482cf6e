import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { luaContract } from "./lua-contract.ts";

/** Folder of the Lua runtime. */
export const LUA_DIRECTORY = fileURLToPath(new URL("../../envoy/lua/", import.meta.url));

/** The module that is not a file but generated from TypeScript (../envoy-contract.ts). */
const CONTRACT = "contract";

/** @returns the script of a filter: `<name>.lua` and the modules that it needs. */
export function luaFilter(name: string, directory = LUA_DIRECTORY): string {
  return bundleLua(readFileSync(`${directory}/${name}.lua`, "utf8"), directory);
}

/**
 * Bundles a script and the runtime modules that it needs into one text that is inlined in Envoy's configuration. Each file of
 * `gatehouse/` becomes a module of that name (`require("gatehouse.json")`), as does the contract with the service; then `main`
 * runs. So Envoy needs no files of ours, and the configuration is self-contained.
 *
 * @param main - Lua source that defines `envoy_on_request` or `envoy_on_response`
 * @param directory - contains the folder `gatehouse`
 */
export function bundleLua(main: string, directory = LUA_DIRECTORY): string {
  const modules = new Map<string, string>();
  const add = (source: string) => {
    for (const [, name = ""] of source.matchAll(/"gatehouse\.([a-z_]+)"/g)) {
      if (modules.has(name)) continue;
      const text =
        name === CONTRACT ? luaContract() : readFileSync(`${directory}/gatehouse/${name}.lua`, "utf8");
      modules.set(name, text);
      add(text);
    }
  };
  add(main);
  return [...[...modules].map(([name, source]) => preload(name, source)), main].join("\n");
}

/** Each file is a separate chunk, so that errors name its file and line. */
function preload(name: string, source: string): string {
  return `package.preload["gatehouse.${name}"] = assert(loadstring(${longString(source)}, "@gatehouse/${name}.lua"))`;
}

/** Lua's long brackets, with as many equals signs as needed. The line break after the bracket is not part of the string. */
function longString(text: string): string {
  let level = "";
  while (text.includes(`]${level}]`) || text.endsWith(`]${level}`)) level += "=";
  return `[${level}[\n${text}]${level}]`;
}
