import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { join } from "node:path";
import { load } from "js-yaml";
import { loadGatewayConfig } from "../../src/config/index.ts";
import { folderOf, keptCommandLine, type Folder } from "../cli/support.ts";
import { ROOT } from "../support/up.ts";
import { pageBlocks, pageText } from "./support/page-blocks.ts";

const RECIPES = [
  "break-glass.md",
  "gradual-rollout.md",
  "graphql.md",
  "multi-tenant-saas.md",
  "personal-data.md",
  "service-to-service.md",
  "websocket.md",
];

/** It has commands of its own, which are tried below. */
const TWO_FOLDERS = "gradual-rollout.md";

interface SuiteTest {
  readonly name: string;
  readonly messages?: readonly object[];
}

interface Coverage {
  readonly sets: readonly {
    readonly conditions: readonly {
      readonly id: string;
      readonly true: number;
      readonly false: number;
      readonly unknown: number;
      readonly possible: number;
    }[];
  }[];
}

/** The files of a page. JSON has no comments to name a file: a page with some is the attribute source of its gateway. */
function filesOf(page: string): Record<string, string> {
  const blocks = pageBlocks(page);
  const source = /path: (\S+\.json)/.exec(blocks.map(({ text }) => text).join("\n"))?.[1];
  return Object.fromEntries(
    blocks.flatMap(({ language, text, file }): readonly (readonly [string, string])[] => {
      if (language === "json") {
        assert.ok(source !== undefined, `${page} says which file the JSON is`);
        return [[source, text]];
      }
      return file === undefined ? [] : [[file, text]];
    }),
  );
}

/** The rows of the table below the last heading: what is tried, and the cases that refuse it. */
function attacksOf(page: string): readonly (readonly string[])[] {
  const [, section = ""] = pageText(page).split("\n## What attackers try\n");
  return [...section.matchAll(/^\| .+ \| (`.+`) \|$/gm)].map(([, cases = ""]) =>
    [...cases.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name),
  );
}

describe("docs/recipes", () => {
  const kept = keptCommandLine();
  after(kept.close);

  it("are all tested here, and in the table of contents", () => {
    const pages = globSync("*.md", { cwd: join(ROOT, "docs/recipes") });
    assert.deepEqual(pages.toSorted(), ["README.md", ...RECIPES]);
    const contents = pageText("recipes/README.md");
    const listed = [...contents.matchAll(/^\| \[.+\]\((\S+\.md)\) \|/gm)].map(([, file]) => file);
    assert.deepEqual(listed.toSorted(), RECIPES);
  });

  for (const recipe of RECIPES) {
    const page = `recipes/${recipe}`;

    describe(recipe, () => {
      let folder: Folder;
      let files: Record<string, string>;
      before(async () => {
        files = filesOf(page);
        folder = await folderOf(files);
      });
      after(() => folder.remove());

      const run = async (...args: string[]) => {
        const { code, stdout, stderr } = await kept.gatehouse(args, { cwd: folder.path });
        assert.deepEqual([code, stderr], [0, ""], `${args.join(" ")}\n${stdout}`);
        return stdout;
      };
      const directories = () => [
        ...new Set(Object.keys(files).flatMap((file) => /^(\w+)\/\w+\.yaml$/.exec(file)?.[1] ?? [])),
      ];

      it("does what the page of all recipes says to run", async () => {
        if (recipe === TWO_FOLDERS) {
          assert.ok(pageText("recipes/README.md").includes(`](${TWO_FOLDERS}) is about two folders`));
          return;
        }
        const [commands = "", ...others] = pageBlocks("recipes/README.md").flatMap(({ language, text }) =>
          language === "sh" ? [text] : [],
        );
        assert.deepEqual(others, []);
        for (const line of commands.trim().split("\n")) {
          const [npx, gatehouse, ...args] = line.split(" ");
          assert.deepEqual([npx, gatehouse], ["npx", "gatehouse"]);
          await run(...args);
        }
      });

      it("has a policy without errors and warnings", async () => {
        for (const directory of directories())
          assert.doesNotMatch(await run("policy", "validate", "-d", directory), /warning|error/);
        if (files["gateway.yaml"] === undefined) return;
        assert.doesNotMatch(
          await run("policy", "validate", "--config", "gateway.yaml"),
          /warning|error/,
          "and the gateway provides all that it reads",
        );
      });

      it("has a suite that passes, and shows each condition permit and not permit", async () => {
        const suites = directories().filter((directory) => `${directory}/default.test.yaml` in files);
        assert.ok(suites.length > 0);
        for (const directory of suites) {
          await run("policy", "test", "-d", directory);
          const { sets } = JSON.parse(await run("policy", "coverage", "--json", "-d", directory)) as Coverage;
          const conditions = sets.flatMap((set) => set.conditions);
          assert.ok(conditions.length > 0);
          const onesided = conditions.filter(
            (condition) =>
              condition.true === 0 || (condition.possible > 1 && condition.false + condition.unknown === 0),
          );
          assert.deepEqual(
            onesided.map(({ id }) => id),
            [],
          );
        }
      });

      it("names for each attack the cases that refuse it", () => {
        const tests = Object.entries(files)
          .filter(([file]) => file.endsWith(".test.yaml"))
          .flatMap(([, text]) => (load(text) as { tests: readonly SuiteTest[] }).tests);
        const attacks = attacksOf(page);
        assert.ok(attacks.length >= 3);
        for (const name of attacks.flat()) {
          const found = tests.filter((test) => test.name === name);
          assert.equal(found.length, 1, name);
          // denied, dropped, masked, or kept back
          assert.match(JSON.stringify(found), /"expect":"deny"|"expect_refused":true|"expect_body"/, name);
        }
      });

      it("says what the problem is, and why the policy is like this", () => {
        const text = pageText(page);
        const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => heading);
        assert.deepEqual(
          headings.filter((heading) => heading === "Why like this" || heading === "What attackers try"),
          ["Why like this", "What attackers try"],
        );
        assert.match(text, /^# .+\n\n[A-Z][^`#]+\.\n/);
      });
    });
  }

  it("roll out a rule that is narrower, with sections that gateways take", async () => {
    const page = "recipes/gradual-rollout.md";
    const files = filesOf(page);
    const folder = await folderOf(files);
    const commands = pageBlocks(page).filter(({ language }) => language === "sh");
    assert.equal(commands.length, 1);
    const printed: string[] = [];
    for (const line of (commands[0]?.text ?? "").trim().split("\n")) {
      const [npx, gatehouse, ...args] = line.split(" ");
      assert.deepEqual([npx, gatehouse], ["npx", "gatehouse"]);
      const { code, stdout, stderr } = await kept.gatehouse(args, { cwd: folder.path });
      assert.deepEqual([code, stderr], [0, ""], stdout);
      printed.push(stdout);
    }
    const kinds = [...(printed[1] ?? "").matchAll(/^(\S+) +(\S+ \S+) {2}\(/gm)].map(([line]) =>
      line.slice(0, -3),
    );
    assert.deepEqual(kinds, ["narrower     GET /api/projects/{project_id}"]);
    assert.ok(pageText(page).includes(`\`${kinds[0]}\``));

    const sections = pageBlocks(page).filter(({ text }) => text.startsWith("rollout:"));
    assert.equal(sections.length, 1);
    for (const { text } of sections) {
      const gateway = (files["gateway.yaml"] ?? "").replace(/^rollout:\n(?: .+\n)+/m, text);
      assert.ok(gateway.includes(text));
      await folder.add({ "later.yaml": gateway });
      const loaded = loadGatewayConfig({ file: join(folder.path, "later.yaml"), env: {} });
      assert.ok(loaded.ok, loaded.ok ? "" : loaded.errors);
    }
    await folder.remove();
  });
});
