import assert from "node:assert/strict";
import { inspect } from "node:util";
import { createIdentityHeaders } from "../../../src/decision/headers/identity-headers.ts";
import type { Identity } from "../../../src/identity/types.ts";
import type { Value } from "../../../src/policy/index.ts";
import { encodeAllow } from "../../../src/extauthz/encode.ts";

const identityOf = (user: Record<string, Value>, customer?: Record<string, Value>): Identity => ({
  user,
  ...(customer && { customer }),
  userId: "u-1",
  session: { amr: [] },
  expiresAt: 0,
});

describe("decision: identity headers", () => {
  const headersOf = createIdentityHeaders([
    ["x-user-id", ["user", "id"]],
    ["x-value", ["user", "value"]],
    ["x-deep", ["user", "deep", "er"]],
    ["x-customer-id", ["customer", "id"]],
  ]);
  const valueOf = (value: Value) => {
    const { set, remove } = headersOf(identityOf({ value }), false);
    // what is set must be something that can be sent
    encodeAllow({ setHeaders: set, removeHeaders: remove });
    const found = set.find(([name]) => name === "x-value")?.[1];
    assert.equal(remove.includes("x-value"), found === undefined, "either set or removed");
    return found;
  };

  it("sets what the identity has and removes the rest, of whoever sent it", () => {
    const { set, remove } = headersOf(identityOf({ id: "u-1", deep: { er: "x" } }, { id: "c-1" }), false);
    assert.deepEqual(set, [
      ["x-user-id", "u-1"],
      ["x-deep", "x"],
      ["x-customer-id", "c-1"],
    ]);
    assert.deepEqual([...remove].sort(), ["x-backend-url", "x-real-ip", "x-user-token", "x-value"]);
  });

  it("removes everything for nobody", () => {
    const { set, remove } = headersOf(undefined, false);
    assert.deepEqual(set, []);
    assert.deepEqual([...remove].sort(), [
      "x-backend-url",
      "x-customer-id",
      "x-deep",
      "x-real-ip",
      "x-user-id",
      "x-user-token",
      "x-value",
    ]);
  });

  it("removes reserved names that no attribute is mapped to, and sets those that one is", () => {
    const own = createIdentityHeaders([["x-me", ["user", "id"]]], ["x-user-id", "x-me"]);
    for (const identity of [undefined, identityOf({ id: "u-1" })]) {
      const { set, remove } = own(identity, true);
      encodeAllow({ setHeaders: set, removeHeaders: remove });
      assert.deepEqual([...remove].sort(), [
        "x-backend-url",
        ...(identity ? [] : ["x-me"]),
        "x-user-id",
        "x-user-token",
      ]);
    }
  });

  it("leaves a trusted proxy's X-Real-IP, and not what is for the gateway", () => {
    for (const identity of [undefined, identityOf({ id: "u-1" })]) {
      assert.ok(!headersOf(identity, true).remove.includes("x-real-ip"));
      assert.ok(headersOf(identity, false).remove.includes("x-real-ip"));
      assert.ok(headersOf(identity, true).remove.includes("x-user-token"));
      assert.ok(headersOf(identity, true).remove.includes("x-backend-url"));
    }
  });

  it("keeps identities apart", () => {
    const one = identityOf({ id: "u-1", value: "a" });
    const two = identityOf({ id: "u-2" });
    for (let round = 0; round < 2; round += 1) {
      assert.equal(new Map(headersOf(one, false).set).get("x-user-id"), "u-1");
      assert.equal(new Map(headersOf(two, false).set).get("x-user-id"), "u-2");
      assert.equal(new Map(headersOf(two, false).set).get("x-value"), undefined);
    }
  });

  const faithful: readonly (readonly [Value, string])[] = [
    ["admin", "admin"],
    ["a, b", "a, b"],
    ["Zoë 🙂", "Zoë 🙂"],
    [7, "7"],
    [-1.5, "-1.5"],
    [0, "0"],
    [true, "true"],
    [false, "false"],
    [["a", "b"], "a,b"],
    [["a,b", "c"], "a%2Cb,c"],
    [["100%", "%2C"], "100%25,%252C"],
    [["a", 1, true], "a,1,true"],
    [["é"], "é"],
  ];
  for (const [value, text] of faithful) {
    it(`writes ${JSON.stringify(value)} as ${JSON.stringify(text)}`, () => {
      assert.equal(valueOf(value), text);
    });
  }

  const unfaithful: readonly Value[] = [
    "",
    [],
    [""],
    ["a", ""],
    null,
    [null],
    { a: 1 },
    [{ a: 1 }],
    [["a"]],
    "a\r\nx-user-role: admin",
    "a\0b",
    "a\tb",
    "\u007f",
    ["a", "b\n"],
    "half \ud800",
    ["half \udc00"],
    // HTTP drops the blanks around a value: another user would arrive
    " admin",
    "admin ",
    " ",
    [" admin"],
    Infinity,
    NaN,
  ];
  for (const value of unfaithful) {
    it(`has no header for ${inspect(value)}`, () => {
      assert.equal(valueOf(value), undefined);
    });
  }

  it("reads own members only", () => {
    const odd = createIdentityHeaders([
      ["x-a", ["user", "constructor", "name"]],
      ["x-b", ["user", "__proto__"]],
      ["x-c", ["user", "id", "length"]],
    ]);
    assert.deepEqual(odd(identityOf({ id: "abc" }), true).set, []);
  });
});
