import assert from "node:assert/strict";
import type { Actor, Scope } from "../../../src/control/platform/actor.ts";
import { FULL_KEY, OWNER, startControl, type RunningControl } from "../../support/control.ts";

describe("control: the rate limit of gateways", () => {
  let control: RunningControl;
  const counted: string[] = [];
  before(async () => {
    control = await startControl({
      limiter: () => ({
        take(group, subject) {
          counted.push(`${group} ${subject}`);
          return Promise.resolve({ allowed: true, limit: 1, remaining: 1, resetAt: 0 });
        },
        close: () => Promise.resolve(),
      }),
    });
  });
  after(() => control.close());

  async function groupOf(as: Actor | null): Promise<{ status: number; group: string | undefined }> {
    counted.length = 0;
    const { status } = await control.request("POST", "/gateway/records", { as, body: { records: [] } });
    assert.equal(counted.length, 1);
    return { status, group: counted[0]?.split(" ")[0] };
  }
  const key = (scope: Scope): Actor => ({ ...FULL_KEY, scope });

  it("is for those who may act as one", async () => {
    for (const scope of ["gateway", "full_access"] as const) {
      const { status, group } = await groupOf(key(scope));
      assert.notEqual(status, 403, scope);
      assert.equal(group, "gateway", scope);
    }
  });

  it("is not for others, who are counted as at any other route", async () => {
    for (const scope of ["read_only", "configuration", "authentication", "caller"] as const)
      assert.deepEqual(await groupOf(key(scope)), { status: 403, group: "management" }, scope);
    assert.deepEqual(await groupOf(OWNER), { status: 403, group: "management" });
    assert.deepEqual(await groupOf(null), { status: 401, group: "management" });
  });
});
