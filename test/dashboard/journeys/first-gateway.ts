import assert from "node:assert/strict";
import { startGateway } from "../../support/gateway.ts";
import { makeKey } from "../../support/guarded-control.ts";
import type { Journey } from "./journey.ts";

const POLICIES = `policies:
  - { resource: "GET /first", condition: request.method == "GET" }
`;

/** What the first steps give to copy, word for word, but for the ports and the address of the application. */
export function firstGateway({ bench, page, heading }: Journey, upstream: () => string): void {
  it("starts a gateway with the file that the first steps give to copy, and each step shows that it is done", async () => {
    await page().goto("/");
    await heading("First steps");
    const step = (title: string) => page().getByRole("listitem").filter({ hasText: title });
    const done = (title: string) => step(title).and(page().locator(".done"));
    await page().getByText("Waiting for the first decision").waitFor();
    assert.equal(await page().locator(".done").count(), 0);
    const given = (await page().getByRole("region", { name: "gateway.yaml" }).textContent()) ?? "";
    const { secret } = await makeKey(bench().control, { name: "first", scope: "gateway" });
    await done("Generate a key for the gateway").waitFor();
    const yaml = given.replace("8000", "0").replace("http://127.0.0.1:3000", upstream());
    assert.notEqual(yaml, given);
    const gateway = await startGateway({
      ...{ backend: "", issuer: { url: "", audience: "" } },
      yaml: `${yaml}telemetry:\n  port: 0\n`,
      beside: { "gateway.key": secret },
      policies: { "default.yaml": POLICIES },
    });
    try {
      await done("Connect a gateway").waitFor();
      assert.equal((await fetch(`${gateway.url}/first`)).status, 200);
      await page().getByText("The first decision has arrived.").waitFor();
      await done("Send a request through the gateway").waitFor();
    } finally {
      await gateway.stop();
    }
  });
}
