import assert from "node:assert/strict";
import type { RunningControl } from "../../../support/control.ts";
import {
  bearer,
  makeCustomer,
  makeKey,
  makeOwner,
  send,
  startGuardedControl,
  type Person,
} from "../../../support/guarded-control.ts";

describe("API keys that may be used only from some addresses", () => {
  let control: RunningControl;
  let owner: Person;
  before(async () => {
    control = await startGuardedControl({ settings: { trustedProxies: ["127.0.0.1", "::1"] } });
    owner = await makeOwner(control);
  });
  after(() => control.close());

  const ask = (method: string, path: string, body?: unknown) =>
    send(control, method, path, owner.headers, body);
  /** As a trusted proxy forwards it. */
  const probeFrom = async (key: string, address: string) => {
    const headers = { ...bearer(key), "x-forwarded-for": address };
    const { status, body } = await send(control, "GET", "/probe", headers);
    return status === 200 ? "good" : body.error.code;
  };
  const create = async (fields: object) => {
    const answer = await ask("POST", "/api-keys", { name: "k", scope: "full_access", ...fields });
    assert.equal(answer.status, 201, answer.text);
    return answer.body.data as { id: string; key: string; allowed_addresses: string[] };
  };

  it("are refused from everywhere else", async () => {
    const allowed = ["192.0.2.7", "198.51.100.0/24", "2001:db8::/32"];
    const { key, allowed_addresses: shown } = await create({ allowed_addresses: allowed });
    assert.deepEqual(shown, allowed);
    for (const [address, expected] of [
      ["192.0.2.7", "good"],
      ["198.51.100.200", "good"],
      ["2001:db8:1::9", "good"],
      ["::ffff:192.0.2.7", "good"],
      ["192.0.2.7:4711", "good"],
      ["192.0.2.8", "ADDRESS_NOT_ALLOWED"],
      ["198.51.101.1", "ADDRESS_NOT_ALLOWED"],
      ["2001:db9::1", "ADDRESS_NOT_ALLOWED"],
      // not an address: the client is the proxy
      ["nonsense", "ADDRESS_NOT_ALLOWED"],
      ["", "ADDRESS_NOT_ALLOWED"],
      // what the client itself wrote comes before what the proxy saw
      ["192.0.2.7, 203.0.113.9", "ADDRESS_NOT_ALLOWED"],
      ["203.0.113.9, 192.0.2.7", "good"],
    ] as const)
      assert.equal(await probeFrom(key, address), expected, address);
  });

  it("take the word of no client: a stranger's X-Forwarded-For is not looked at", async () => {
    const alone = await startGuardedControl({ settings: { trustedProxies: [] } });
    try {
      const { secret } = await makeKey(alone, { allowedAddresses: ["192.0.2.7"] });
      const headers = { ...bearer(secret), "x-forwarded-for": "192.0.2.7" };
      const { status, body } = await send(alone, "GET", "/probe", headers);
      assert.deepEqual([status, body.error.code], [403, "ADDRESS_NOT_ALLOWED"]);
    } finally {
      await alone.close();
    }
  });

  it("are changed, freed again, and rolled with their addresses", async () => {
    const { id, key } = await create({});
    assert.equal(await probeFrom(key, "203.0.113.1"), "good");
    const limited = await ask("PUT", `/api-keys/${id}`, { allowed_addresses: ["192.0.2.7"] });
    assert.deepEqual(limited.body.data.allowed_addresses, ["192.0.2.7"]);
    assert.equal(await probeFrom(key, "203.0.113.1"), "ADDRESS_NOT_ALLOWED");
    // a change of something else leaves them
    assert.equal((await ask("PUT", `/api-keys/${id}`, { name: "renamed" })).status, 200);
    assert.equal(await probeFrom(key, "203.0.113.1"), "ADDRESS_NOT_ALLOWED");
    const { body: rolled } = await ask("POST", `/api-keys/${id}/roll`, {});
    assert.deepEqual(rolled.data.allowed_addresses, ["192.0.2.7"]);
    assert.equal(await probeFrom(rolled.data.key, "203.0.113.1"), "ADDRESS_NOT_ALLOWED");
    assert.equal(await probeFrom(rolled.data.key, "192.0.2.7"), "good");
    assert.equal((await ask("PUT", `/api-keys/${id}`, { allowed_addresses: [] })).status, 200);
    assert.equal(await probeFrom(key, "203.0.113.1"), "good");
  });

  it("have addresses and networks in their one form, and callers have none", async () => {
    const customerId = await makeCustomer(control);
    for (const fields of [
      { allowed_addresses: ["10.0.0.1/8"] },
      { allowed_addresses: ["10.1"] },
      { allowed_addresses: ["app.test"] },
      { allowed_addresses: ["::ffff:10.0.0.1"] },
      { allowed_addresses: ["10.0.0.0/33"] },
      { allowed_addresses: null },
      { allowed_addresses: "10.0.0.1" },
      { allowed_addresses: Array.from({ length: 101 }, (_, n) => `10.0.0.${n}`) },
      { allowed_addresses: ["10.0.0.1"], scope: "caller", customer_id: customerId },
    ]) {
      const { status, body } = await ask("POST", "/api-keys", { name: "k", scope: "full_access", ...fields });
      assert.deepEqual([status, body.error?.code], [422, "VALIDATION_FAILED"], JSON.stringify(fields));
      assert.match(JSON.stringify(body.error.details), /allowed_addresses/);
    }
    const caller = await create({ scope: "caller", customer_id: customerId });
    const changed = await ask("PUT", `/api-keys/${caller.id}`, { allowed_addresses: ["10.0.0.1"] });
    assert.equal(changed.status, 422);
  });
});
