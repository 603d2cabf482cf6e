import assert from "node:assert/strict";
import { createPolicySetCompiler } from "../../../../src/control/resources/policy-sets/compiler.ts";
import { setOf, yaml } from "../../support/policy-files.ts";

describe("the compiler of policy sets", () => {
  it("ends a set that takes too long, and has its place free again", async () => {
    const compile = createPolicySetCompiler({ threads: 1, timeoutMs: 1 });
    const slow = await compile({ name: "a", files: setOf("v1") });
    assert.equal(slow.diagnostics[0]?.code, "set-too-slow");
    assert.match(slow.rendered, /set-too-slow/);
    assert.equal((await compile({ files: setOf("v1") })).diagnostics[0]?.code, "set-too-slow");
  });

  it("survives a set that takes too much memory", async () => {
    // enough to load the compiler: Node ends a thread that runs out of memory within its own code, not within V8's
    const compile = createPolicySetCompiler({ threads: 1, memoryMb: 40 });
    const rules = Array.from(
      { length: 20_000 },
      (_, index) => `  - resource: "GET /a${index}"\n    condition: "true"\n`,
    );
    const found = await compile({ files: yaml(`policies:\n${rules.join("")}`) });
    assert.equal(found.diagnostics[0]?.code, "set-too-complex");
  });

  it("compiles few at once, lets some wait and refuses the rest", async () => {
    const compile = createPolicySetCompiler({ threads: 1, waiting: 1 });
    const results = await Promise.allSettled(
      ["v1", "v2", "v3"].map((version) => compile({ files: setOf(version) })),
    );
    assert.deepEqual(
      results.map(({ status }) => status),
      ["fulfilled", "fulfilled", "rejected"],
    );
    const next = await compile({ files: setOf("v4") });
    assert.equal(next.set?.version, "v4");
  });
});
