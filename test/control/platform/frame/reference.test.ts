import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { apiReference } from "../../../../src/control/platform/frame/reference.ts";
import { startWholeControl } from "../../../support/whole-control.ts";

const page = fileURLToPath(new URL("../../../../docs/api.md", import.meta.url));

describe("the reference of the API", () => {
  it("is fresh (GATEHOUSE_UPDATE=1 writes it)", async () => {
    // the sandbox has every route
    const control = await startWholeControl({ settings: { environment: "sandbox" } });
    const fresh = apiReference(control.routes);
    await control.close();
    if (process.env["GATEHOUSE_UPDATE"] === "1") writeFileSync(page, fresh);
    assert.equal(readFileSync(page, "utf8"), fresh);
  });
});
