import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parse as parseGraphql } from "graphql";
import { ROOT } from "../../docs/.vitepress/pages.ts";
import { USUAL_FORWARDED_HEADERS } from "../../src/request/types.ts";
import { syntaxErrorsOf } from "../support/promql.ts";
import { startWholeControl, type WholeControl } from "../support/whole-control.ts";
import { ApiCalls, type ApiDocument } from "./support/api-calls.ts";
import { allBlocks, placeOf, type Block } from "./support/blocks.ts";
import { pythonProblems, typeProblems } from "./support/check-code.ts";
import { jsonProblems } from "./support/check-json.ts";
import { ShellPage } from "./support/check-shell.ts";
import { yamlProblems } from "./support/check-yaml.ts";
import { CHECKED_BY, NOT_RUN, RUN_BY } from "./support/run-by.ts";

/** Drawings, and what programs print, which is compared where they run. */
const SHOWN = ["text", "console"];
const SHELL = ["sh"];
const CODE = ["ts", "js"];
const PYTHON = ["py", "python"];
/** Languages that are checked by what follows here. */
const CHECKED = new Set([...SHELL, ...CODE, ...PYTHON, "yaml", "json", "graphql", "promql", "nginx"]);

const blocks = allBlocks();
const isChecked = ({ page, language, text }: Block) =>
  CHECKED_BY.some(
    (entry) => entry.page === page && entry.language === language && text.includes(entry.part ?? ""),
  );
/** The blocks of these languages that no other test takes. */
const inLanguages = (...languages: readonly string[]): readonly Block[] =>
  blocks.filter((block) => languages.includes(block.language) && !isChecked(block));

const testText = (test: string) => readFileSync(join(ROOT, "test", `${test}.test.ts`), "utf8");
/** A test names the page that it reads; where it reads several of a folder, without the folder and the ending. */
const names = (test: string, page: string) =>
  new RegExp(`["'\`/](?:${page}|${basename(page, ".md")}(?:\\.md)?)["'\`]`).test(testText(test));

describe("docs: the blocks of every page", function () {
  this.timeout(180_000);

  it("name their language, and it is one that a test checks", () => {
    assert.ok(blocks.length > 200, String(blocks.length));
    const unchecked = blocks.filter(
      (block) => !CHECKED.has(block.language) && !SHOWN.includes(block.language) && !isChecked(block),
    );
    assert.deepEqual(
      unchecked.map((block) => `${placeOf(block)}: \`${block.language}\``),
      [],
    );
  });

  it("that another test runs or compares are there, and it reads their page", () => {
    for (const { page, language, part = "", test } of CHECKED_BY) {
      const found = blocks.filter((block) => block.page === page && block.language === language);
      assert.ok(
        found.some(({ text }) => text.includes(part)),
        `${page} has no such block of ${language}: ${part}`,
      );
      assert.ok(names(test, page), `${test} does not read ${page}`);
    }
  });

  describe("of shell", () => {
    const shell = blocks.filter(({ language }) => SHELL.includes(language));
    const pages = [...new Set(shell.map(({ page }) => page))];
    let control: WholeControl;
    let api: ApiCalls;

    before(async () => {
      // the sandbox has every route
      control = await startWholeControl({ settings: { environment: "sandbox" } });
      api = new ApiCalls((await (await fetch(`${control.url}/v1/openapi.json`)).json()) as ApiDocument);
    });
    after(() => control.close());

    it("are each run by a test, or the reason why not is known", () => {
      assert.deepEqual(problemsOfRuns(shell, { ...RUN_BY, ...unrun() }), []);
    });

    it("are read from the page by the test that runs them", () => {
      for (const [page, tests] of Object.entries(RUN_BY))
        for (const [test, parts] of Object.entries(tests)) {
          assert.ok(names(test, page), `${test} does not read ${page}`);
          // others take the blocks in their order, and fail where there are more
          if (!/\b(?:blockWith\(|fromPage\(|only\("sh")/.test(testText(test))) continue;
          for (const part of parts)
            assert.ok(
              ['"', "'"].some((quote) => testText(test).includes(`${quote}${part}${quote}`)),
              `${test} takes no block with ${part}`,
            );
        }
    });

    it("are missed where nothing runs them", () => {
      const [page, language] = ["a.md", "sh"];
      const two = ["make one\n", "make two\n"].map((text, line) => ({ page, line, language, text }));
      const problems = (...parts: readonly string[]) => problemsOfRuns(two, { [page]: { test: parts } });
      assert.deepEqual(problems("one", "two"), []);
      assert.deepEqual(problems("one"), ["a.md:1: no test runs it"]);
      assert.deepEqual(problems("make", "two"), [
        "a.md: 2 blocks with `make`",
        "a.md:1: several tests run it",
      ]);
      assert.deepEqual(problems("one", "two", "three"), ["a.md: 0 blocks with `three`"]);
      assert.equal(problemsOfRuns(two, {}).length, 2);
    });

    it("start programs as these can be started, and name files, targets and routes that exist", async () => {
      const problems: string[] = [];
      for (const page of pages) {
        const known = new ShellPage(api);
        for (const block of inLanguages(...SHELL).filter((one) => one.page === page))
          problems.push(...(await known.problemsOf(block)));
      }
      assert.deepEqual(problems, []);
    });
  });

  it("of YAML are policy files, suites or a gateway.yaml without errors", async () => {
    const found = inLanguages("yaml");
    assert.ok(found.length > 30, String(found.length));
    assert.deepEqual((await Promise.all(found.map((block) => yamlProblems(block, blocks)))).flat(), []);
  });

  it("of JSON are what the programs write", async () => {
    assert.deepEqual((await Promise.all(inLanguages("json").map(jsonProblems))).flat(), []);
  });

  it("of GraphQL can be parsed", () => {
    for (const block of inLanguages("graphql"))
      assert.doesNotThrow(() => parseGraphql(block.text), placeOf(block));
  });

  it("of PromQL are right, and name metrics that there are", () => {
    const sources = globSync("src/telemetry/**/*.ts", { cwd: ROOT }).map((file) =>
      readFileSync(join(ROOT, file), "utf8"),
    );
    const known = sources.join("\n");
    for (const block of inLanguages("promql")) {
      assert.deepEqual(syntaxErrorsOf(block.text), [], placeOf(block));
      const used = block.text.match(/\bgatehouse_\w+/g) ?? [];
      assert.ok(used.length > 0, placeOf(block));
      for (const name of used)
        assert.ok(
          known.includes(`"${name.replace(/_(?:bucket|sum|count)$/, "")}"`),
          `${placeOf(block)}: ${name}`,
        );
    }
  });

  it("of nginx set the headers that the gateway expects, to what nginx knows", () => {
    for (const block of inLanguages("nginx")) {
      const set = [...block.text.matchAll(/^\s*proxy_set_header (\S+) \S+;$/gm)].map(([, name = ""]) =>
        name.toLowerCase(),
      );
      const expected = USUAL_FORWARDED_HEADERS.map((name) => name.toLowerCase());
      assert.deepEqual(set.filter((name) => name !== "host").sort(), expected.toSorted(), placeOf(block));
    }
  });

  it("of TypeScript and JavaScript have no type errors", () => {
    const found = inLanguages(...CODE);
    assert.ok(found.length > 5);
    assert.deepEqual(typeProblems(found), []);
  });

  it("of Python have no type errors", async () => {
    const found = inLanguages(...PYTHON);
    assert.ok(found.length > 3);
    assert.deepEqual(await pythonProblems(found), []);
  });
});

describe("docs: what is known of blocks", () => {
  it("is known once, of tests that exist", () => {
    const tests = [
      ...Object.values(RUN_BY).flatMap((one) => Object.keys(one)),
      ...CHECKED_BY.map((entry) => entry.test),
    ];
    for (const test of tests) assert.ok(existsSync(join(ROOT, "test", `${test}.test.ts`)), test);
    for (const page of Object.keys(NOT_RUN)) assert.ok(!Object.hasOwn(RUN_BY, page), page);
  });
});

type Runs = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

/** The blocks that nothing runs, in the shape of `RUN_BY`. */
function unrun(): Runs {
  return Object.fromEntries(
    Object.entries(NOT_RUN).map(([page, reasons]) => [page, { "": Object.keys(reasons) }]),
  );
}

/** @returns blocks that not exactly one part names, and parts that do not name exactly one block */
function problemsOfRuns(shell: readonly Block[], runs: Runs): readonly string[] {
  const partsOf = (page: string) => Object.values(runs[page] ?? {}).flat();
  const problems = Object.keys(runs).flatMap((page) =>
    partsOf(page).flatMap((part) => {
      const found = shell.filter((block) => block.page === page && block.text.includes(part));
      return found.length === 1 ? [] : [`${page}: ${found.length} blocks with \`${part}\``];
    }),
  );
  for (const block of shell) {
    const found = partsOf(block.page).filter((part) => block.text.includes(part));
    if (found.length !== 1)
      problems.push(`${placeOf(block)}: ${found.length === 0 ? "no test runs it" : "several tests run it"}`);
  }
  return problems;
}
