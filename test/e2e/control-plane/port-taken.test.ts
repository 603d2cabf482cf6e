import assert from "node:assert/strict";
import { createServer } from "node:http";
import { startControlPlaneProcess } from "../../support/control-plane.ts";

describe("end to end: a control plane whose port is taken", () => {
  it("ends with a failure", async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    const { port } = taken.address() as { port: number };
    await assert.rejects(
      startControlPlaneProcess({ config: { api: { port } } }),
      /api\.port: .* is in use by /,
    );
    taken.close();
  });
});
