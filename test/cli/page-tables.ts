import assert from "node:assert/strict";
import { pageText } from "../docs/support/page-blocks.ts";

export const POLICIES_PAGE = pageText("policies.md");

/** The rows of the table that begins with these cells; each cell as it is written. */
export function rowsOf(...head: readonly string[]): readonly (readonly string[])[] {
  const start = POLICIES_PAGE.indexOf(`| ${head.join(" | ")} |\n`);
  assert.notEqual(start, -1, `the page has a table of ${head.join(", ")}`);
  const [, , ...lines] = (POLICIES_PAGE.slice(start).split("\n\n")[0] ?? "").split("\n");
  const rows = lines
    .filter((line) => line !== "")
    .map((line) => line.split(/(?<!\\) \| |^\| | \|$/).slice(1, -1));
  assert.ok(rows.length > 0);
  return rows;
}

/** What stands in back quotes in a cell. */
export function quoted(cell = ""): readonly string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, text = ""]) => text);
}
