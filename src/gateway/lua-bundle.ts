import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Where the Lua runtime lies. */
export const LUA_DIRECTORY = fileURLToPath(new URL("../../envoy/lua/", import.meta.url));

/** @returns the script of a filter, `<name>.lua` and what it needs. */
export function luaFilter(name: string, directory = LUA_DIRECTORY): string {
  return bundleLua(readFileSync(`${directory}/${name}.lua`, "utf8"), directory);
}

/**
 * The Lua runtime as one text that Envoy takes inline: every file of `gatehouse/` becomes a module of that name
 * (`require("gatehouse.json")`), and then `main` runs. So Envoy needs no files of ours, and a configuration is complete.
 *
 * @param main - Lua source that defines `envoy_on_request` and `envoy_on_response`
 * @param directory - holds the folder `gatehouse`
 */
export function bundleLua(main: string, directory = LUA_DIRECTORY): string {
  const modules = readdirSync(`${directory}/gatehouse`)
    .filter((name) => name.endsWith(".lua"))
    .sort()
    .map((name) =>
      preload(name.slice(0, -".lua".length), readFileSync(`${directory}/gatehouse/${name}`, "utf8")),
    );
  return [...modules, main].join("\n");
}

/** Each file is a chunk of its own, so that an error names its file and line. */
function preload(name: string, source: string): string {
  return `package.preload["gatehouse.${name}"] = assert(loadstring(${longString(source)}, "@gatehouse/${name}.lua"))`;
}

/** Lua's long brackets, with as many equals signs as it takes. The line break after the bracket is not part of it. */
function longString(text: string): string {
  let level = "";
  while (text.includes(`]${level}]`) || text.endsWith(`]${level}`)) level += "=";
  return `[${level}[\n${text}]${level}]`;
}
