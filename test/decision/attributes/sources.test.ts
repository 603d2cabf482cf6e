import assert from "node:assert/strict";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { YAMLException } from "js-yaml";
import { FileSource } from "../../../src/decision/attributes/sources.ts";

describe("decision: file source", () => {
  let directory: string;
  let path: string;
  let warnings: string[];
  let source: FileSource;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "gatehouse-source-"));
    path = join(directory, "users.json");
    warnings = [];
    source = new FileSource(path, { warn: (_context, message) => warnings.push(message) });
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  /** By rename: a new inode, so that every write is a change whatever the clock's grain. */
  const put = async (text: string) => {
    await writeFile(`${path}.new`, text);
    await rename(`${path}.new`, path);
    await source.refresh();
  };

  it("cannot say anything before it was loaded", async () => {
    assert.throws(() => source.lookup("u-1"), /is not loaded/);
    await source.refresh();
    assert.deepEqual(warnings, ["cannot read attribute source; conditions that look it up are unknown"]);
    assert.throws(() => source.lookup("u-1"), /is not loaded/);
  });

  it("finds entries by their own names", async () => {
    await put('{"u-1":{"department":"sales"},"__proto__":{"department":"odd"},"":{"a":1}}');
    assert.deepEqual(source.lookup("u-1"), { department: "sales" });
    assert.deepEqual(source.lookup("__proto__"), { department: "odd" });
    assert.deepEqual(source.lookup(""), { a: 1 });
    for (const name of ["constructor", "toString", "U-1", "u-1 "])
      assert.equal(source.lookup(name), undefined);
  });

  it("takes numbers as they are written", async () => {
    await put(
      "u-1: { a: 9007199254740991, b: -0.1, c: 1e23, d: 0x1F, e: +7, f: .5, g: .inf, h: '9007199254740993', i: 007 }",
    );
    assert.deepEqual(source.lookup("u-1"), {
      ...{
        a: 9007199254740991,
        b: -0.1,
        c: 1e23,
        d: 31,
        e: 7,
        f: 0.5,
        g: Infinity,
        h: "9007199254740993",
        i: 7,
      },
    });
  });

  it("says where a key stands that is not text", async () => {
    const errors: unknown[] = [];
    source = new FileSource(path, { warn: (context) => errors.push((context as { err: unknown }).err) });
    await put("u-1: { a: 1 }\n  \n007: { a: 1 }\n");
    const [error] = errors;
    assert.ok(error instanceof YAMLException);
    assert.deepEqual([error.mark?.line, error.mark?.column], [2, 0]);
  });

  it("takes keys that are numbers, or seem to be, in quotes and dates as they are", async () => {
    await put("'007': { a: 1 }\n\"true\": { a: 2 }\n2026-01-02: { a: 3 }\nyes: { a: 4 }\n");
    const found = ["007", "true", "2026-01-02", "yes", "7"].map((key) => source.lookup(key)?.["a"]);
    assert.deepEqual(found, [1, 2, 3, 4, undefined]);
  });

  it("takes a change over, also that an entry is gone", async () => {
    await put('{"u-1":{"department":"sales"}}');
    await put('{"u-2":{"department":"legal"}}');
    assert.equal(source.lookup("u-1"), undefined);
    assert.deepEqual(source.lookup("u-2"), { department: "legal" });
  });

  for (const bad of [
    "",
    "{",
    "[]",
    "null",
    '"x"',
    '{"u-1":7}',
    '{"u-1":null}',
    '{"u-1":[1]}',
    '{"u-1":{},"u-2":"x"}',
    // they would be read as another number
    '{"u-1":{"account":9007199254740993}}',
    '{"u-1":{"accounts":[1,123456789012345680000]}}',
    '{"u-1":{"share":0.1000000000000000055511151231257827}}',
    "u-1: { hex: 0x20000000000001 }",
    "9007199254740993: { a: 1 }",
    // keys that would be another text than they seem
    ...["7", "007", "0x1F", "1e3", "1.0", ".inf", ".NaN", "true", "null", "~"].map(
      (key) => `${key}: { a: 1 }`,
    ),
    "u-1: { teams: { 007: lead } }",
    ": { a: 1 }",
  ]) {
    it(`keeps the last good content over ${JSON.stringify(bad)}, and says so`, async () => {
      await put('{"u-1":{"department":"sales"}}');
      await put(bad);
      assert.deepEqual(source.lookup("u-1"), { department: "sales" });
      assert.deepEqual(warnings, ["cannot read attribute source; using the last good content"]);
      await put('{"u-1":{"department":"legal"}}');
      assert.deepEqual(source.lookup("u-1"), { department: "legal" });
    });
  }

  it("keeps the last good content when the file is gone", async () => {
    await put('{"u-1":{"department":"sales"}}');
    await rm(path);
    await source.refresh();
    assert.deepEqual(source.lookup("u-1"), { department: "sales" });
    assert.equal(warnings.length, 1);
  });

  it("does not read again what has not changed", async () => {
    await put('{"u-1":{"department":"sales"}}');
    const before = source.lookup("u-1");
    await source.refresh();
    assert.equal(source.lookup("u-1"), before);
  });
});
