import { readFileSync } from "node:fs";

/** @returns package.json, which is two folders above both `src/cli` and `dist/cli`. */
export function manifest(): { readonly name: string; readonly version: string } {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return JSON.parse(text) as { readonly name: string; readonly version: string };
}
