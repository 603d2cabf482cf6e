import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { apiTypes } from "../../dashboard/api-types.ts";
import { startWholeControl } from "../support/whole-control.ts";

const file = fileURLToPath(new URL("../../dashboard/src/api/schema.d.ts", import.meta.url));

describe("the dashboard's types of the API", () => {
  it("are those of the document that the control plane serves (GATEHOUSE_UPDATE=1 writes them)", async () => {
    // the sandbox has all that production has, and its people
    const control = await startWholeControl({ settings: { environment: "sandbox" } });
    const document = (await (await fetch(`${control.url}/v1/openapi.json`)).json()) as object;
    await control.close();
    const fresh = await apiTypes(document);
    if (process.env["GATEHOUSE_UPDATE"] === "1") writeFileSync(file, fresh);
    assert.ok(readFileSync(file, "utf8") === fresh, "stale: run `make docs`");
  });
});
