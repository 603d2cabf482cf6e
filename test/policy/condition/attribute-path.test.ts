import assert from "node:assert/strict";
import { formatPath, parseAttributePath } from "../../../src/policy/evaluation.ts";

describe("the path of an attribute, outside of conditions", () => {
  const paths: Readonly<Record<string, readonly string[]>> = {
    user: ["user"],
    "user.role": ["user", "role"],
    'user["https://a.test/roles"]': ["user", "https://a.test/roles"],
    'user["a b"].c["d"]': ["user", "a b", "c", "d"],
    "request.headers.X_Team": ["request", "headers", "x_team"],
    'request.headers["X-Team"]': ["request", "headers", "x-team"],
    'request.query["Page"]': ["request", "query", "Page"],
    'args[""]': ["args", ""],
  };
  for (const [text, path] of Object.entries(paths))
    it(`reads ${text}`, () => {
      assert.deepEqual(parseAttributePath(text), path);
      assert.deepEqual(parseAttributePath(formatPath(path)), path);
    });

  const wrong = [
    "",
    " user",
    "user.",
    "user..role",
    "user role",
    "1",
    "user[role]",
    "user['role']",
    'user["a',
    "user.role ",
  ];
  for (const text of wrong)
    it(`refuses ${JSON.stringify(text)}`, () => {
      assert.equal(parseAttributePath(text), undefined);
    });
});
