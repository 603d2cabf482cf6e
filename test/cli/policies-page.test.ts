import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { folderOf, gatehouse, type Folder } from "./support.ts";

const PAGE = fileURLToPath(new URL("../../docs/policies.md", import.meta.url));

/** The examples of the page, as the files that it says they are. */
async function examples(): Promise<Record<string, string>> {
  const page = await readFile(PAGE, "utf8");
  const blocks = [...page.matchAll(/^```(yaml|graphql)\n(.*?)^```$/gms)].map(([, kind, text = ""]) => ({
    kind,
    text,
  }));
  const files: Record<string, string> = {};
  for (const [index, { kind, text }] of blocks.entries()) {
    const isSuite = /^(tests|matrix):/m.test(text);
    const name =
      kind === "graphql"
        ? "default/api.graphql"
        : isSuite
          ? "default.test.yaml"
          : `default/${index + 1}.yaml`;
    assert.ok(!(name in files), `the page has one ${name}`);
    files[name] = text;
  }
  return Object.fromEntries(Object.entries(files).map(([name, text]) => [`policies/${name}`, text]));
}

describe("docs/policies.md", () => {
  let folder: Folder;
  let files: Record<string, string>;

  before(async () => {
    files = await examples();
    folder = await folderOf(files);
  });
  after(() => folder.remove());

  it("has examples of every section, which are one good set", async () => {
    const text = Object.values(files).join("\n");
    for (const section of [
      ...["policies", "web_policies", "response_filters", "response_masks", "graphql_policies"],
      ...["websocket_policies", "attributes", "graphql", "people", "matrix", "tests"],
    ])
      assert.match(text, new RegExp(`^${section}:`, "m"));
    const { code, stdout, stderr } = await gatehouse(["policy", "validate"], { cwd: folder.path });
    assert.deepEqual([code, stderr], [0, ""], stdout);
    assert.doesNotMatch(stdout, /warning|error/);
  });

  it("has an example of a suite, which passes against the examples of rules", async () => {
    const { code, stdout, stderr } = await gatehouse(["policy", "test"], { cwd: folder.path });
    assert.equal(code, 0, `${stdout}${stderr}`);
    assert.match(stdout, /\b5 passed\b/);
  });
});
