import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { SIZING_PAGE, sizingPage } from "./support/sizing-reference.ts";

describe("operations: sizing", () => {
  it("has the figures of the last benchmarks (GATEHOUSE_UPDATE=1 writes them)", () => {
    if (process.env["GATEHOUSE_UPDATE"] === "1") writeFileSync(SIZING_PAGE, sizingPage());
    assert.equal(readFileSync(SIZING_PAGE, "utf8"), sizingPage());
  });
});
