import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { readPolicyFolder } from "../../../src/decision/policies/policy-folder.ts";

const POLICY = "graphql: { schema: api.graphql }\n";
const SDL = "type Query { a: Int }\n";

describe("decision: GraphQL schemas of a policy folder", () => {
  let root: string;
  let directory: string;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "gatehouse-folder-"));
    directory = join(root, "policies");
    await mkdir(directory);
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  const write = async (name: string, text: string | Buffer) => {
    await mkdir(dirname(join(directory, name)), { recursive: true });
    await writeFile(join(directory, name), text);
  };
  const read = () => readPolicyFolder(directory, "main");
  const names = async () => (await read()).files.map(({ name }) => name);

  it("are read with a set that is one file", async () => {
    await write("main.yaml", POLICY);
    await write("api.graphql", SDL);
    await write("other.graphql", SDL);
    const { files, diagnostics } = await read();
    assert.deepEqual(diagnostics, []);
    assert.deepEqual(files, [
      { name: "main.yaml", text: POLICY },
      { name: "api.graphql", text: SDL },
    ]);
  });

  it("are read with a set that is a folder, from below it too", async () => {
    await write("main/1.yaml", "graphql: { schema: v1/api.graphql }\n");
    await write("main/2.yaml", "# the other one: api.graphql\n");
    await write("main/v1/api.graphql", SDL);
    await write("main/api.graphql", SDL);
    await write("api.graphql", SDL);
    assert.deepEqual(await names(), [
      "main/1.yaml",
      "main/2.yaml",
      "main/v1/api.graphql",
      "main/api.graphql",
    ]);
  });

  it("change the fingerprint", async () => {
    await write("main.yaml", POLICY);
    const without = (await read()).fingerprint;
    await write("api.graphql", SDL);
    const first = (await read()).fingerprint;
    await write("api.graphql", SDL.replace("Int", "Float"));
    const second = (await read()).fingerprint;
    assert.equal(new Set([without, first, second]).size, 3);
    await write("api.graphql", SDL);
    assert.equal((await read()).fingerprint, first);
  });

  it("that are not there, or no files, are left to the compiler", async () => {
    await write("main.yaml", POLICY);
    assert.deepEqual(await read().then(({ diagnostics }) => diagnostics), []);
    await mkdir(join(directory, "api.graphql"));
    assert.deepEqual(await names(), ["main.yaml"]);
  });

  it("are not read where a link leads outside", async () => {
    await writeFile(join(root, "api.graphql"), SDL);
    await symlink(join(root, "api.graphql"), join(directory, "api.graphql"));
    await write("main.yaml", POLICY);
    const { files, diagnostics } = await read();
    assert.deepEqual(
      files.map(({ name }) => name),
      ["main.yaml"],
    );
    assert.deepEqual(
      diagnostics.map(({ file, code, message }) => [file, code, message]),
      [["api.graphql", "unreadable-file", "the file is outside the policy set's folder"]],
    );
    // as Kubernetes mounts a ConfigMap
    await rm(join(directory, "api.graphql"));
    await write("..data/api.graphql", SDL);
    await symlink("..data/api.graphql", join(directory, "api.graphql"));
    assert.deepEqual((await read()).files.at(-1), { name: "api.graphql", text: SDL });
  });

  it("are not read where they are too large, or no UTF-8", async () => {
    await write("main.yaml", POLICY);
    await write("api.graphql", "#".repeat(5 * 1024 * 1024 + 1));
    const codes = async () => (await read()).diagnostics.map(({ code, message }) => [code, message]);
    assert.deepEqual(await codes(), [["unreadable-file", "the file is larger than 5 MB"]]);
    await write("api.graphql", Buffer.from([0xff]));
    assert.deepEqual(await codes(), [["not-utf8", "the file is not valid UTF-8"]]);
  });

  it("are at most twenty, with the lists of documents", async () => {
    const all = Array.from({ length: 22 }, (_, index) => `s${index}.graphql`);
    await write("main.yaml", all.map((name) => `# ${name} ${name}\n`).join(""));
    for (const name of all) await write(name, SDL);
    assert.deepEqual(await names(), ["main.yaml", ...all.slice(0, 20)]);
  });
});
