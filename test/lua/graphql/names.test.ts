import assert from "node:assert/strict";
import type { LuaRunner } from "../../support/lua.ts";
import { evaluate, EVALUATE, evaluatedOf } from "./evaluated.ts";
import { planOf, ruleOf } from "./plans.ts";
import type { GraphqlCase } from "./requests.ts";
import { startBatches, type LuaBatch } from "./support.ts";

const named = (count: number, name: (index: number) => string) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [name(index), 1]));

/** So many operations, all with the variable `f` as the argument `filter` of one field. */
function operations(count: number, variables: object, whens = ['args.filter.region == "eu"']): GraphqlCase {
  const query = Array.from(
    { length: count },
    (_, index) => `query q${index}($f: F) { customers(filter: $f) { id } }`,
  );
  return {
    plan: planOf(whens.map((when) => ruleOf("query customers", when))),
    payload: JSON.stringify({ query: query.join(" "), operationName: "q0", variables }),
    env: {},
    events: [],
  };
}

describe("names of GraphQL arguments in Lua and in TypeScript", () => {
  let runner: LuaRunner;
  let batch: LuaBatch;
  before(async () => {
    ({ runner, batch } = await startBatches(EVALUATE));
  });
  after(() => runner.close());

  const evaluated = async (one: GraphqlCase) => {
    const [text = ""] = await batch([JSON.stringify({ ...one, env: JSON.stringify(one.env) })]);
    const expected = evaluate(one);
    assert.deepEqual(evaluatedOf(text), expected);
    return expected.code ?? expected.kind;
  };

  it("are looked at once for all operations and fields: else these were two million", async () => {
    const filter = { region: "eu", ...named(9_900, (index) => `É${"a.É".repeat(14)}${index}`) };
    assert.equal(await evaluated(operations(200, { f: filter })), "allowed");
  });

  it("are looked at for each rule that reads others", async () => {
    const whens = ['args.filter.region == "eu"', "not exists(args.filter.admin)"];
    const filter = { region: "eu" };
    assert.equal(await evaluated(operations(3, { f: filter }, whens)), "allowed");
    for (const name of ["Region", "ADMIN"]) {
      assert.equal(
        await evaluated(operations(3, { f: { ...filter, [name]: 1 } }, whens)),
        "GRAPHQL_MALFORMED",
      );
    }
  });

  it("are looked at again where the same object is read otherwise", async () => {
    const query = "query q($f: F) { customers(filter: $f, other: $f) { id } }";
    const one = (variables: object): GraphqlCase => ({
      ...operations(1, {}, ['args.filter.region == "eu" and args.other.zone != "a"']),
      payload: JSON.stringify({ query, variables }),
    });
    assert.equal(await evaluated(one({ f: { region: "eu", zone: "b" } })), "allowed");
    assert.equal(await evaluated(one({ f: { region: "eu", zone: "b", Zone: "a" } })), "GRAPHQL_MALFORMED");
  });

  it("are bounded in one request, over all of its operations", async () => {
    const others = named(1_000, (index) => `v${index}`);
    const variables = { f: { region: "eu" }, ...others };
    assert.equal(await evaluated(operations(49, variables)), "allowed");
    assert.equal(await evaluated(operations(51, variables)), "GRAPHQL_LIMIT_EXCEEDED");
  });
});
