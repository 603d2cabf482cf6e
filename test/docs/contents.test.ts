import assert from "node:assert/strict";
import { existsSync, globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join, normalize } from "node:path";
import { ROOT } from "../support/up.ts";

/** The files that a page links to, from the root of the project. */
async function linksOf(page: string): Promise<readonly string[]> {
  const text = await readFile(join(ROOT, page), "utf8");
  return [...text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].flatMap(([, target = ""]) =>
    /^\w+:/.test(target) ? [] : [normalize(join(dirname(page), target))],
  );
}

describe("docs: table of contents", () => {
  const pages = globSync("docs/**/*.md", { cwd: ROOT }).filter((page) => !page.startsWith("docs/decisions/"));

  it("reaches every page from the root README within two links", async () => {
    const first = new Set(await linksOf("README.md"));
    assert.ok(first.has("docs/README.md"), "the README links to the table of contents");
    const second = new Set(
      (await Promise.all([...first].filter((page) => page.endsWith(".md")).map(linksOf))).flat(),
    );
    const far = pages.filter((page) => !first.has(page) && !second.has(page));
    assert.deepEqual(far, []);
  });

  it("lists every page, or one of the pages that list it, and nothing that is not there", async () => {
    const listed = new Set(await linksOf("docs/README.md"));
    const indexes = [...listed].filter((page) => page.startsWith("docs/") && page.endsWith(".md"));
    const below = new Set((await Promise.all(indexes.map(linksOf))).flat());
    const isListed = (page: string) =>
      listed.has(page) || (dirname(page) !== "docs" && below.has(page)) || page === "docs/README.md";
    assert.deepEqual(
      pages.filter((page) => !isListed(page)),
      [],
    );
    assert.deepEqual(
      [...listed].filter((target) => !existsSync(join(ROOT, target))),
      [],
    );
  });
});
