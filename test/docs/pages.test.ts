import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { phrasesIn, PHRASES } from "../../docs/.lint/phrases.ts";
import { problemOf } from "../../docs/.lint/references.ts";
import { llmsText } from "../../docs/.vitepress/llms.ts";
import {
  allPages,
  isRelative,
  parse,
  referencesOf,
  ROOT,
  summaryOf,
  targetOf,
  textOf,
  titleOf,
  treeOf,
} from "../../docs/.vitepress/pages.ts";
import { sections } from "../../docs/.vitepress/sections.ts";

const pages = allPages();
/** Pages that a folder leads to: its README, or where it has none, all of its pages. */
const pagesAt = (target: string): readonly string[] => {
  if (pages.includes(target)) return [target];
  const readme = join(target, "README.md");
  return pages.includes(readme) ? [readme] : pages.filter((page) => page.startsWith(`${target}/`));
};

describe("docs: the pages", () => {
  it("are all found: those of the root and of folders", () => {
    for (const page of [
      "README.md",
      "docs/policies.md",
      "docs/deployment/nginx.md",
      "clients/node/README.md",
    ])
      assert.ok(pages.includes(page), page);
    assert.ok(!pages.some((page) => page.includes("node_modules")));
  });

  it("can all be reached from the README", () => {
    const reached = new Set(["README.md"]);
    for (const page of reached)
      for (const { url } of referencesOf(textOf(page), treeOf(page)).filter((reference) =>
        isRelative(reference.url),
      ))
        for (const found of pagesAt(targetOf(page, url))) reached.add(found);
    assert.deepEqual(
      pages.filter((page) => !reached.has(page)),
      [],
    );
  });

  it("have a title of their own, except for the READMEs of different folders", () => {
    const titles = pages.filter((page) => page.startsWith("docs/")).map((page) => titleOf(page));
    assert.deepEqual(titles, [...new Set(titles)]);
  });

  it("are listed in llms.txt, which is fresh (GATEHOUSE_UPDATE=1 writes it)", () => {
    const file = join(ROOT, "llms.txt");
    const text = llmsText();
    if (process.env["GATEHOUSE_UPDATE"] === "1") writeFileSync(file, text);
    assert.equal(readFileSync(file, "utf8"), text);
    // https://llmstxt.org: a title, a summary, and lists of links
    assert.match(text, /^# .+\n\n> .+\n\n(?:## .+\n\n(?:- \[.+\]\(\S+\.md\)(?:: .+)?\n)+(?:\n|$))+$/);
    assert.deepEqual(
      [...text.matchAll(/\]\((\S+\.md)\)/g)].map(([, page]) => page).sort(),
      [...pages].sort(),
    );
    assert.deepEqual(
      sections()
        .flatMap((section) => section.pages)
        .sort(),
      [...pages].sort(),
    );
  });

  it("are summed up by their first sentence", () => {
    assert.equal(summaryOf(parse("# A\n\nIt is `a`, e.g. [b](c.md). More.\n")), "It is `a`, e.g. b.");
    assert.equal(summaryOf(parse("# A\n\n## B\n\nText.\n")), undefined);
  });
});

describe("docs: what the lint says of pages", () => {
  const found = (text: string) => phrasesIn(parse(text)).map((one) => one.text);

  it("is the place of a phrase, in text alone", () => {
    assert.deepEqual(phrasesIn(parse("# A\n\nThis is `simply` good.\n\nIt is\nobviously so.\n")), [
      { text: "obviously", advice: "leave it out", line: 5 },
    ]);
    assert.deepEqual(found("400 requests\na second, just like that\n"), ["requests a second"]);
    assert.deepEqual(found("outstanding, so long as it lasts, just after\n"), []);
    assert.deepEqual(found("- Whoever comes\n\n| a |\n|---|\n| the sum comes to 3 |\n"), [
      "Whoever",
      "sum comes to",
    ]);
    assert.ok(PHRASES.every(({ pattern }) => pattern.flags === "gi"));
  });

  it("is what is wrong with a link", () => {
    const problem = (url: string) => problemOf("docs/policies.md", { url });
    for (const url of [
      "https://example.com/a?b#c",
      "http://127.0.0.1:8081/",
      "mailto:a@example.com",
      "../README.md#x",
      "images",
    ])
      assert.equal(problem(url), undefined, url);
    assert.equal(problem("http://example.com/"), "is not https");
    assert.equal(problem("https://intranet/"), "names a host without a domain");
    assert.equal(problem("https://example.com/a."), "ends in a punctuation mark");
    assert.equal(problem("https://a b/"), "is not a valid URL");
    assert.equal(problem("nothing.md"), "names a file that does not exist");
  });

  it("knows images and links in HTML", () => {
    const html =
      '<picture>\n<source srcset="a.svg, b.svg 2x">\n<img src="c.png">\n</picture>\n\n[d](e.md) <a href="f.md">g</a>\n';
    const urls = referencesOf(html).map(({ url, line, start }) => [
      url,
      line,
      html.slice(start, start + url.length),
    ]);
    assert.deepEqual(urls.map(([url, line]) => `${String(url)}:${String(line)}`).sort(), [
      "a.svg:2",
      "b.svg:2",
      "c.png:3",
      "e.md:6",
      "f.md:6",
    ]);
    for (const [url, , text] of urls) assert.equal(text, url);
  });

  it("is by a dictionary that is sorted, and has no word that no page uses", () => {
    const words = readFileSync(join(ROOT, "docs/.lint/words.txt"), "utf8").trimEnd().split("\n");
    const sorted = words.toSorted((a, b) => a.toLowerCase().localeCompare(b.toLowerCase(), "en"));
    assert.deepEqual(words, sorted);
    const text = pages.map(textOf).join("\n").toLowerCase();
    assert.deepEqual(
      words.filter((word) => !text.includes(word.toLowerCase())),
      [],
    );
  });
});
