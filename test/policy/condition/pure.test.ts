import assert from "node:assert/strict";
import { build } from "esbuild";

describe("the condition language", () => {
  it("bundles for a platform without I/O, and needs chevrotain alone", async () => {
    const { metafile } = await build({
      entryPoints: ["src/policy/condition/index.ts"],
      bundle: true,
      write: false,
      metafile: true,
      platform: "neutral",
      format: "esm",
      logLevel: "silent",
    });
    const inputs = Object.keys(metafile.inputs);
    const outside = inputs.filter(
      (input) => !/^src\/(?:json|text|policy)\/|^node_modules\/@?chevrotain\//.test(input),
    );
    assert.deepEqual(outside, []);
    assert.ok(inputs.length > 20);
  });
});
