import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { REASONS } from "../src/reasons.ts";
import { reasonsReference } from "./support/reasons-reference.ts";

const page = fileURLToPath(new URL("../docs/reasons.md", import.meta.url));

describe("reasons", () => {
  it("have a page that is fresh (GATEHOUSE_UPDATE=1 writes it)", () => {
    if (process.env["GATEHOUSE_UPDATE"] === "1") writeFileSync(page, reasonsReference());
    assert.equal(readFileSync(page, "utf8"), reasonsReference());
  });

  it("are what audit records and the control plane take for a code, with a text of one line", () => {
    for (const [reason, { status, code, message }] of Object.entries(REASONS)) {
      for (const name of [reason, code]) assert.match(name, /^[A-Z][A-Z0-9_]{0,39}$/);
      assert.match(message, /^[^\n|]{5,200}[^.]$/, reason);
      assert.ok(status >= 200 && status < 600, reason);
    }
  });
});
