import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { compilePolicySet, FINDING_CODES, POLICY_CODES, renderDiagnostics } from "../../src/policy/index.ts";
import { parseArchive, printArchive } from "./support/txtar.ts";

const folder = new URL("../cases/policy/", import.meta.url);
const update = process.env["UPDATE_POLICY_CASES"] === "1";

/** Found by tests of their own: these take files that nobody wants to look at. */
const TOO_LARGE_FOR_A_CASE = ["no-files", "file-too-large", "too-many-aliases", "more-findings"];

describe("policy set cases", () => {
  const produced = new Set<string>();
  const names = readdirSync(folder).filter((name) => name.endsWith(".txtar"));

  for (const name of names) {
    it(name.replace(".txtar", ""), () => {
      const path = new URL(name, folder);
      const archive = parseArchive(readFileSync(path, "utf8"));
      const files = [...archive.parts]
        .filter(([part]) => /\.(?:yaml|graphql)$|^documents.*\.json$/.test(part))
        .map(([part, text]) => ({ name: part, text }));
      const severalProviders = name.startsWith("roles-");
      const { ir, diagnostics } = compilePolicySet(files, { name: "case", severalProviders });
      for (const { code } of diagnostics) produced.add(code);

      const expected = new Map(files.map((file) => [file.name, file.text]));
      if (diagnostics.length > 0) expected.set("diagnostics", renderDiagnostics(diagnostics, files));
      if (ir !== undefined) expected.set("ir.json", `${JSON.stringify(ir, null, 1)}\n`);
      const text = printArchive({ comment: archive.comment, parts: expected });
      if (update) writeFileSync(path, text);
      assert.equal(readFileSync(path, "utf8"), text);
    });
  }

  it("show every diagnostic code, and no other", () => {
    const known = new Set<string>([...POLICY_CODES, ...FINDING_CODES]);
    assert.deepEqual(
      [...produced].filter((code) => !known.has(code)),
      [],
    );
    assert.deepEqual(
      POLICY_CODES.filter((code) => !produced.has(code)),
      TOO_LARGE_FOR_A_CASE,
    );
  });
});
