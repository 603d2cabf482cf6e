import assert from "node:assert/strict";
import { readYaml } from "../../src/config/yaml.ts";

describe("configuration: keys of YAML", () => {
  for (const key of ["7", "007", "0x1F", "1e3", "1.0", ".inf", "true", "null", "~"])
    it(`are text, which ${key} is only in quotes`, () => {
      const text = `headers: { ${key}: user.id }`;
      const { root, problems } = readYaml(text);
      assert.deepEqual(
        problems.map(({ code, start, end }) => [code, text.slice(start, end)]),
        [["unsupported-yaml", key]],
      );
      const [entry] = root?.kind === "mapping" ? root.entries : [];
      assert.deepEqual(entry?.value.kind === "mapping" && entry.value.entries, []);
      assert.deepEqual(readYaml(`headers: { "${key}": user.id }`).problems, []);
    });
});
