import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadGatewayConfig } from "../../src/config/index.ts";
import { folderOf, gatehouse, type Folder } from "./support.ts";

const PAGE = fileURLToPath(new URL("../../docs/policies.md", import.meta.url));

const OF_GATEWAY = "gateway:";

async function blocks(): Promise<readonly { readonly kind: string | undefined; readonly text: string }[]> {
  const page = await readFile(PAGE, "utf8");
  const found = page.matchAll(/^```(yaml|graphql)\n(.*?)^```$/gms);
  return [...found].map(([, kind, text = ""]) => ({ kind, text }));
}

/** The examples of policy sets on the page, as the files that it says they are. */
async function examples(): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  for (const [index, { kind, text }] of (await blocks()).entries()) {
    if (text.startsWith(OF_GATEWAY)) continue;
    const isSuite = /^(tests|matrix):/m.test(text);
    const set = /^policy_set: (\w+)/m.exec(text)?.[1] ?? "default";
    const name =
      kind === "graphql" ? `${set}/api.graphql` : isSuite ? `${set}.test.yaml` : `${set}/${index + 1}.yaml`;
    assert.ok(!(name in files), `the page has one ${name}`);
    files[name] = text;
  }
  // Relay's form; the page describes the file and shows none
  files["default/documents.json"] = '{ "ids": "{ __typename }" }';
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

  it("has an example of gateway.yaml, which is good", async () => {
    const [{ text } = { text: "" }, ...others] = (await blocks()).filter((block) =>
      block.text.startsWith(OF_GATEWAY),
    );
    assert.deepEqual(others, []);
    const example = await folderOf({ "gateway.yaml": text });
    const loaded = loadGatewayConfig({ file: join(example.path, "gateway.yaml"), env: {} });
    await example.remove();
    assert.ok(loaded.ok, loaded.ok ? "" : loaded.errors);
  });

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

  it("has examples of suites, which pass against the examples of rules", async () => {
    const { code, stdout, stderr } = await gatehouse(["policy", "test"], { cwd: folder.path });
    assert.equal(code, 0, `${stdout}${stderr}`);
    assert.match(stdout, /^default\.test\.yaml: 5 passed/m);
    assert.match(stdout, /^roots\.test\.yaml: \d\d passed, 0 failed$/m);
  });
});
