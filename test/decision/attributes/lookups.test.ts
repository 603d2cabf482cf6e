import assert from "node:assert/strict";
import { withSources } from "../../../src/decision/attributes/attributes.ts";
import { UNAVAILABLE, type ValueObject } from "../../../src/policy/index.ts";
import { snapshotOf } from "../support.ts";

const POLICY = `
attributes:
  target_user: { source: users, key: request.query.id, types: { department: string } }
policies:
  - resource: GET /x
    condition: target_user.department == "sales"
`;

describe("decision: attribute look-ups", () => {
  const snapshot = snapshotOf(POLICY);
  const needs = [...snapshot.needs.values()][0]!;
  const lookUp = async (
    ids: readonly string[] | undefined,
    lookup: (key: string) => ValueObject | undefined | Promise<ValueObject | undefined>,
  ) => {
    const request = ids === undefined ? { query: {} } : { query: { id: ids } };
    const found = await withSources(needs, { request }, new Map([["users", { lookup }]]), 20);
    return found["target_user"];
  };
  const sales = { department: "sales" };

  it("takes a parameter that was sent once as the key", async () => {
    assert.equal(await lookUp(["u-1"], (key) => (key === "u-1" ? sales : undefined)), sales);
  });

  it("finds nothing by a key that is missing or was sent twice", async () => {
    const lookup = () => assert.fail("nothing is looked up") as undefined;
    assert.equal(await lookUp(undefined, lookup), undefined);
    assert.equal(await lookUp(["u-1", "u-2"], lookup), undefined);
  });

  it("does not look up by a number that is not exact: the entry may be anybody's", async () => {
    const lookup = () => assert.fail("nothing is looked up") as undefined;
    const [only] = needs.sources;
    assert.ok(only);
    const byClaim = { ...needs, sources: [{ ...only, key: ["user", "account"] }] };
    const sources = new Map([["users", { lookup }]]);
    const found = await withSources(byClaim, { user: { account: NaN } }, sources);
    assert.equal(found["target_user"], UNAVAILABLE);
  });

  it("takes a source that throws, rejects or never answers for unavailable, which is not absent", async () => {
    const failing = () => {
      throw new Error("down");
    };
    assert.equal(await lookUp(["u-1"], failing), UNAVAILABLE);
    assert.equal(await lookUp(["u-1"], () => Promise.reject(new Error("down"))), UNAVAILABLE);
    assert.equal(await lookUp(["u-1"], () => new Promise(() => undefined)), UNAVAILABLE);
    assert.equal(await lookUp(["u-1"], () => undefined), undefined);
    assert.equal(
      (await withSources(needs, { request: { query: { id: ["u-1"] } } }, new Map()))["target_user"],
      UNAVAILABLE,
    );
    assert.equal((await withSources(needs, { request: UNAVAILABLE }, new Map()))["target_user"], UNAVAILABLE);
  });
});
