import { readFileSync } from "node:fs";
import { withPlaces } from "../../authorizers/support/guide.ts";

/** A file of the folder deploy. */
export function deployText(path: string): string {
  return readFileSync(new URL(`../../../deploy/${path}`, import.meta.url), "utf8");
}

/** The same with other places: each text must be there. */
export function deployFile(path: string, places: Readonly<Record<string, string>> = {}): string {
  return withPlaces(deployText(path), places);
}
