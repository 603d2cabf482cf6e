import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { requireOwnNode } from "../../release/packages.ts";
import { exportSource } from "../../release/source.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

describe("release: the Node.js that the package asks for", () => {
  it("is the one without which the program ends, and nothing else changes", async () => {
    const { folder } = await exportSource(join(await temporaryDirectory(), "source"));
    const manifest = async () =>
      JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as Record<string, unknown>;
    const before = await manifest();
    await requireOwnNode(folder);
    const { engines, ...others } = await manifest();
    const [, needed = ""] =
      /^const NEEDED = (\d+);$/m.exec(await readFile(join(folder, "bin/gatehouse.js"), "utf8")) ?? [];
    assert.deepEqual(engines, { node: `>=${needed}` });
    assert.deepEqual({ ...others, engines: before["engines"] }, before);
  });
});
