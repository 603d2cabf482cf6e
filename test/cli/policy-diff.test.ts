import assert from "node:assert/strict";
import { folderOf, keptCommandLine, type Folder } from "./support.ts";

const SET = `policy_set: shop
policies:
  - resource: GET /orders/{id}
    condition: user.role == "clerk" and customer.id == path.id
`;

describe("cli: policy diff", () => {
  const kept = keptCommandLine();
  let folder: Folder;
  beforeEach(async () => {
    folder = await folderOf({
      "old/shop.yaml": SET,
      "same/shop.yaml": `# a comment\n${SET}`,
      "wide/shop.yaml": SET.replace(" and customer.id == path.id", ""),
      "other/shop.yaml": SET.replace("clerk", "a|`b"),
      "unsure/shop.yaml": SET.replace("policies:", "preflight: allow\npolicies:"),
      "plain/shop.yaml": SET.replace("condition: user", "condition: not not user"),
      "bad/shop.yaml": SET.replace("==", "="),
      "folders/shop/a.yaml": SET,
    });
  });
  afterEach(() => folder.remove());
  after(kept.close);
  const diff = (before: string, after: string, ...options: string[]) =>
    kept.gatehouse(["policy", "diff", before, after, ...options], { cwd: folder.path });
  const toWide = (...options: string[]) => diff("old/shop.yaml", "wide/shop.yaml", ...options);
  const toOld = (...options: string[]) => diff("wide/shop.yaml", "old/shop.yaml", ...options);

  it("shows a request that is permitted only after the change, and both decisions", async () => {
    const { code, stdout, stderr } = await toWide();
    assert.deepEqual([code, stderr], [0, ""]);
    assert.match(stdout, /^wider {8}GET \/orders\/\{id\} {2}\(.*shop\.yaml:3\)$/m);
    assert.match(stdout, /^ {2}only after: GET \/orders\/\S+ .*"role":"clerk"/m);
    assert.match(stdout, /^ {4}before: deny/im);
    assert.match(stdout, /^ {4}after: allow/im);
    const back = await toOld();
    assert.match(back.stdout, /^narrower {5}GET[^]*^ {2}only before: GET \/orders\//m);
  });

  it("says that no rule differs, for files and for folders", async () => {
    for (const same of ["same/shop.yaml", "folders/shop"])
      assert.deepEqual(await diff("old/shop.yaml", same, "--fail-on", "any"), {
        code: 0,
        stdout: "no rule differs\n",
        stderr: "",
      });
  });

  it("prints JSON with the decisions of both sets", async () => {
    const { code, stdout } = await toWide("--json");
    assert.equal(code, 0);
    const { changes } = JSON.parse(stdout) as {
      changes: {
        change: string;
        gained: { method: string; before: { decision: string }; after: { decision: string } };
      }[];
    };
    assert.deepEqual(
      changes.map(({ change, gained }) => [
        change,
        gained.method,
        gained.before.decision,
        gained.after.decision,
      ]),
      [["wider", "GET", "deny", "allow"]],
    );
  });

  it("prints a table in which no text ends a cell", async () => {
    const { stdout } = await diff("old/shop.yaml", "other/shop.yaml", "--markdown");
    const [head, line, row, ...rest] = stdout.split("\n");
    assert.deepEqual(
      [head, line, rest],
      ["| change | rule | only after | only before | notes |", "| --- | --- | --- | --- | --- |", [""]],
    );
    assert.match(row ?? "", /^\| incomparable \| `GET \/orders\/\{id\}` \| `GET \/orders/);
    assert.match(row ?? "", /a\\\|'b/);
    assert.equal(row?.replaceAll("\\|", "").split("|").length, 7);
  });

  for (const [name, from, to, widened, narrowed, any] of [
    ["wider", "old", "wide", 1, 0, 1],
    ["narrower", "wide", "old", 0, 1, 1],
    ["incomparable", "old", "other", 1, 1, 1],
    ["undecided", "old", "unsure", 1, 1, 1],
    ["equivalent", "old", "plain", 0, 0, 0],
  ] as const) {
    it(`exits with 1 if --fail-on includes what is ${name}`, async () => {
      for (const [what, expected] of [
        ["widened", widened],
        ["narrowed", narrowed],
        ["any", any],
      ] as const) {
        const { code, stdout } = await diff(`${from}/shop.yaml`, `${to}/shop.yaml`, "--fail-on", what);
        assert.equal(code, expected, `${what}: ${stdout}`);
        assert.match(stdout, new RegExp(`^${name} `, "m"));
      }
    });
  }

  it("exits with 1 if a set has errors or no file, and with 2 if its path does not exist or an option is wrong", async () => {
    assert.equal((await diff("old/shop.yaml", "bad/shop.yaml")).code, 1);
    const missing = await diff("old/shop.yaml", "nowhere");
    assert.deepEqual([missing.code, missing.stdout], [2, ""]);
    assert.match(missing.stderr, /`nowhere` does not exist/);
    const empty = await folderOf({ "empty/notes.md": "" });
    const { code, stderr } = await diff("old/shop.yaml", `${empty.path}/empty`);
    assert.equal(code, 1);
    assert.match(stderr, /empty/);
    await empty.remove();
    assert.equal((await toWide("--fail-on", "all")).code, 2);
    assert.equal((await toWide("--json", "--markdown")).code, 2);
  });
});
