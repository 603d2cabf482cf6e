import assert from "node:assert/strict";
import { compileInThread } from "../../../src/decision/policies/compile-thread.ts";
import { rememberCompilations } from "../../../src/decision/policies/remember-compilations.ts";

const setOf = (version: string) => [
  {
    name: "main.yaml",
    text: `policy_set: main\nversion: ${version}\npolicies: [{ resource: GET /x, condition: "true" }]\n`,
  },
];

describe("compilations that are remembered", () => {
  const counted = (most?: number) => {
    const compiled: string[] = [];
    const compile = rememberCompilations((files, name) => {
      compiled.push(`${name} ${/version: (.*)/.exec(files[0]?.text ?? "")?.[1]}`);
      return compileInThread(files, name);
    }, most);
    return { compiled, compile };
  };

  it("are those of the same files and name, made once", async () => {
    const { compiled, compile } = counted();
    const [first, second, other, named, nothing] = await Promise.all([
      compile(setOf("a"), "main"),
      compile(setOf("a"), "main"),
      compile(setOf("b"), "main"),
      compile(setOf("a"), "other"),
      compile([], "main"),
    ]);
    assert.equal(first, second);
    assert.deepEqual([first.ir?.version, other.ir?.version], ["a", "b"]);
    assert.deepEqual([named, nothing].includes(first), false);
    assert.deepEqual(compiled, ["main a", "main b", "other a", "main undefined"]);
    assert.equal(await compile(setOf("a"), "main"), first);
    assert.equal(compiled.length, 4);
    // a file of another name is another one
    const renamed = await compile(
      setOf("a").map((file) => ({ ...file, name: "b.yaml" })),
      "main",
    );
    assert.notEqual(renamed, first);
  });

  it("are the last ones", async () => {
    const { compiled, compile } = counted(2);
    for (const version of ["a", "b", "a", "c", "a", "b"]) await compile(setOf(version), "main");
    assert.deepEqual(compiled, ["main a", "main b", "main c", "main b"]);
  });

  it("are none of those that failed", async () => {
    let failures = 1;
    const compile = rememberCompilations((files, name) =>
      failures-- > 0 ? Promise.reject(new Error("out of memory")) : compileInThread(files, name),
    );
    await assert.rejects(compile(setOf("a"), "main"), /out of memory/);
    assert.equal((await compile(setOf("a"), "main")).ir?.version, "a");
  });
});
