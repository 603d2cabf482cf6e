import { readFileSync } from "node:fs";

/** @returns package.json; it lies two folders up from `src/cli` and from `dist/cli` alike. */
export function manifest(): { readonly name: string; readonly version: string } {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return JSON.parse(text) as { readonly name: string; readonly version: string };
}
