import assert from "node:assert/strict";
import { dump } from "js-yaml";
import { pageText } from "../docs/support/page-blocks.ts";
import { folderOf, keptCommandLine } from "./support.ts";

const PAGE = pageText("policies.md");

/** The rows of the table that begins with these cells; each cell as it is written. */
function rowsOf(...head: readonly string[]): readonly (readonly string[])[] {
  const start = PAGE.indexOf(`| ${head.join(" | ")} |\n`);
  assert.notEqual(start, -1, `the page has a table of ${head.join(", ")}`);
  const [, , ...lines] = (PAGE.slice(start).split("\n\n")[0] ?? "").split("\n");
  const rows = lines
    .filter((line) => line !== "")
    .map((line) => line.split(/(?<!\\) \| |^\| | \|$/).slice(1, -1));
  assert.ok(rows.length > 0);
  return rows;
}

/** What stands in back quotes in a cell. */
function quoted(cell = ""): readonly string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, text = ""]) => text);
}

/** Every example of a table is a rule, a test, or both. */
describe("docs/policies.md: the examples in its tables", () => {
  const kept = keptCommandLine();
  after(kept.close);

  const gatehouse = async (args: readonly string[], files: Readonly<Record<string, string>>) => {
    const folder = await folderOf(files);
    const { code, stdout, stderr } = await kept.gatehouse(args, { cwd: folder.path });
    await folder.remove();
    assert.deepEqual([code, stderr], [0, ""], stdout);
    return stdout;
  };
  const passed = async (set: object, tests: readonly object[]) => {
    const stdout = await gatehouse(["policy", "test"], {
      "policies/default.yaml": dump(set),
      "policies/default.test.yaml": dump({ policy_set: "default", tests }),
    });
    assert.match(stdout, new RegExp(`^default\\.test\\.yaml: ${tests.length} passed, 0 failed$`, "m"));
  };

  it("sections: each entry compiles in its section", async () => {
    const rows = rowsOf("section", "decides", "one entry of it");
    const parts = rows.map(([section = "", , entry]) => {
      const [name = ""] = quoted(section);
      const [text = ""] = quoted(entry);
      return `${name}:\n  ${text.startsWith("{") ? `- ${text}` : text}\n`;
    });
    assert.equal(parts.length, 9);
    await gatehouse(["policy", "validate"], { "policies/default.yaml": parts.join("") });
  });

  it("resources: each pattern matches what it says, and nothing else of it", async () => {
    for (const [pattern, yes, no] of rowsOf("pattern", "matches", "does not match")) {
      const [resource = ""] = quoted(pattern);
      const set = resource.startsWith("/")
        ? { web_policies: [{ path: resource, condition: "true" }] }
        : { policies: [{ resource, condition: "true" }] };
      const matching = quoted(yes).map((request) => ({
        name: request,
        request,
        user: "none",
        expect: "allow",
      }));
      const others = quoted(no).map((request) => ({
        ...{ name: request, request, user: "none" },
        ...{ expect: "deny", reason: "NO_MATCHING_RULE" },
      }));
      assert.ok(matching.length > 0 && others.length > 0, resource);
      await passed(set, [...matching, ...others]);
    }
  });

  it("operators: each condition is true, false and unknown for what it says", async () => {
    const rows = rowsOf("operator", "example", "true for", "false for", "unknown for");
    const policies: object[] = [];
    const tests: object[] = [];
    for (const [index, [, example, ...verdicts]] of rows.entries()) {
      const [condition = ""] = quoted(example);
      policies.push({ resource: `GET /${index}`, condition });
      for (const [verdict, reason] of ["CONDITION_TRUE", "CONDITION_FALSE", "CONDITION_UNKNOWN"].entries())
        for (const user of quoted(verdicts[verdict]))
          tests.push({
            name: `${condition} for ${user}`,
            request: `GET /${index}`,
            user: JSON.parse(user) as object,
            expect: verdict === 0 ? "allow" : "deny",
            reason,
          });
    }
    assert.ok(tests.length > 2 * rows.length);
    await passed({ policies }, tests);
  });

  it("roots: the set with all of them reads each, and every member of `request` and `env`", () => {
    const set = /^```yaml\npolicy_set: roots\n(attributes:.*?)^```$/ms.exec(PAGE)?.[1] ?? "";
    const read = new Set(
      [...set.matchAll(/\b([a-z]+)\.([a-z_]+)/g)].flatMap(([path, root = ""]) => [root, path]),
    );
    for (const [cell, members = ""] of rowsOf("root", "members")) {
      const roots = quoted(cell);
      for (const root of roots.length > 0 ? roots : ["account"]) assert.ok(read.has(root), root);
      const [root = ""] = roots;
      if (root !== "request" && root !== "env") continue;
      const sentence = root === "request" ? (members.split(". ")[0] ?? "") : members;
      const names = quoted(sentence).flatMap((text) => /^[a-z_]+/.exec(text)?.[0] ?? []);
      const missing = names.filter(
        (name) => !["monday", root].includes(name) && !read.has(`${root}.${name}`),
      );
      assert.deepEqual(missing, []);
    }
  });

  it("actions: each changes a value as it says", async () => {
    const samples = ['{"n":"900-41-6789"}', '{"n":42}'];
    const rows = rowsOf("action", "any JSON value becomes", ...samples.map((sample) => `\`${sample}\``));
    assert.equal(rows.length, 6);
    for (const [action, , ...becomes] of rows) {
      const [words = ""] = quoted(action);
      const set = words.startsWith("action:")
        ? `response_filters: [{ endpoint: /a, filter_rules: [{ field: n, condition: true, ${words} }] }]\n`
        : `response_masks: [{ api_pattern: /a, fields: [{ name: n, condition: true, ${words} }] }]\n`;
      const tests = becomes.map((cell, index) => ({
        name: `${words} ${index}`,
        ...{ request: "GET /a", user: "none", expect: "allow" },
        response: { body: JSON.parse(samples[index] ?? "") as object },
        expect_body: JSON.parse(quoted(cell)[0] ?? "") as object,
      }));
      assert.equal(tests.length, 2);
      await gatehouse(["policy", "test"], {
        "policies/default.yaml": `policies: [{ resource: GET /a, condition: true }]\n${set}`,
        "policies/default.test.yaml": dump({ policy_set: "default", tests }),
      });
    }
  });

  it("fields: each finds the members that it says", async () => {
    const [head = ""] = /^\| field \| of `.+` \|$/m.exec(PAGE) ?? [];
    const [document = ""] = quoted(head);
    for (const [field, members] of rowsOf("field", `of \`${document}\``)) {
      const [name = ""] = quoted(field);
      const set = {
        policies: [{ resource: "GET /a", condition: "true" }],
        response_masks: [{ api_pattern: "/a", fields: [{ name, condition: "true", mask_type: "full" }] }],
      };
      await passed(set, [
        {
          name,
          ...{ request: "GET /a", user: "none", expect: "allow" },
          response: { body: JSON.parse(document) as object },
          masked: quoted(members),
        },
      ]);
    }
  });
});
