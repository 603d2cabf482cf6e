import assert from "node:assert/strict";
import { join } from "node:path";
import { policyExplainCommand } from "../../src/cli/policy-explain.ts";
import { compileSet } from "../../src/cli/policy-sets.ts";
import { digestOf } from "../../src/decision/policies/snapshot.ts";
import { folderOf, type Folder } from "./support.ts";

const CONFIG = `
identity: { issuer: "https://login.test", audience: api, cookie: session, trusted_origins: ["https://a.test"] }
gateway: { backend: "http://127.0.0.1:1" }
policies: { policy_set: shop }
`;
const SET = `
policies:
  - { resource: "POST /me", condition: exists(user.id) }
  - { resource: "POST /open", condition: "true" }
  - { resource: "POST /a", condition: request.headers.cookie == "a=b" }
`;

describe("cli: policy explain of requests with a cookie", () => {
  let folder: Folder;
  beforeEach(async () => {
    folder = await folderOf({ "gateway.yaml": CONFIG, "policies/shop.yaml": SET });
  });
  afterEach(() => folder.remove());

  const explained = async (...args: string[]): Promise<string> => {
    const files = ["-c", join(folder.path, "gateway.yaml"), "-d", join(folder.path, "policies")];
    let text = "";
    await policyExplainCommand((more) => (text += more)).parseAsync([...files, ...args], {
      from: "user",
    });
    return text;
  };
  const me = ["-r", "POST /me", "-u", '{"id":"u-1"}'];
  const cookie = ["-H", "Cookie: a=b; session=e30.e30.e30"];
  const cross = ["-H", "Sec-Fetch-Site: cross-site"];

  const cases: readonly (readonly [what: string, args: readonly string[], expected: RegExp])[] = [
    [
      "without the headers of an origin",
      [...me, ...cookie],
      /^DENY \(403\) ORIGIN_NOT_TRUSTED: .*no `origin` header/,
    ],
    ["of another site", [...me, ...cookie, ...cross], /ORIGIN_NOT_TRUSTED: .*`cross-site`/],
    ["of a trusted origin", [...me, ...cookie, ...cross, "-H", "Origin: https://a.test"], /^ALLOW/],
    ["of the own origin", [...me, ...cookie, "-H", "Origin: http://gateway.local"], /^ALLOW/],
    ["beside a token", [...me, ...cookie, ...cross, "-H", "Authorization: Bearer e30.e30.e30"], /^ALLOW/],
    ["that is another one", [...me, "-H", "Cookie: other=1", ...cross], /^ALLOW/],
    ["of nobody", ["-r", "POST /me", ...cookie, "-H", "Origin: http://gateway.local"], /^DENY \(401\)/],
    ["that no rule sees", ["-r", "POST /a", ...cookie, ...cross], /^ALLOW/],
    [
      "that rules see",
      ["-r", "POST /a", ...cookie, "-H", "Sec-Fetch-Site: same-origin"],
      /^DENY \(403\) CONDITION_FALSE/,
    ],
    ["that does not matter", ["-r", "POST /open", ...cookie, ...cross], /^ALLOW .*the cookie is ignored/],
  ];
  for (const [what, args, expected] of cases) {
    it(what, async () => {
      assert.match(await explained(...args), expected);
    });
  }

  it("that were decided by it: what the record does not hold is not decided once more", async () => {
    const { ir } = await compileSet(join(folder.path, "policies"), "shop");
    assert.ok(ir !== undefined);
    const record = {
      ...{ timestamp: "2026-01-31T12:00:00Z", request_id: "r-1", decision_id: "d-1", user_id: "u-1" },
      ...{ action: "POST", resource: "/me", raw_path: "/me", host: "app.test", client_ip: "192.0.2.1" },
      ...{ decision: "DENY", reason: "ORIGIN_NOT_TRUSTED", rule: "policies[0]", policy_set: "shop@v0" },
      ...{ policy_digest: digestOf(ir), detail: "sec-fetch-site is `cross-site`" },
    };
    const session = { ...record, decision_id: "d-2", reason: "SESSION_ENDED", detail: "session s-1" };
    await folder.add({
      "audit.log": [record, session].map((line) => `${JSON.stringify(line)}\n`).join(""),
    });
    const past = ["--audit-file", join(folder.path, "audit.log"), "--request-id"];
    const text = await explained(...past, "r-1");
    assert.match(text, /^DENY \(403\) ORIGIN_NOT_TRUSTED: .* \(sec-fetch-site is `cross-site`\)$/m);
    assert.match(text, /^DENY \(401\) SESSION_ENDED: .* \(session s-1\)$/m);
    assert.equal(text.match(/^not evaluated again: the record does not contain what decided/gm)?.length, 2);
    assert.doesNotMatch(text, /ALLOW|evaluated again with that set/);
    const [json] = JSON.parse(await explained("--json", ...past, "d-1")) as Record<string, unknown>[];
    assert.equal(json?.["again"], undefined);
    assert.match(
      String(json?.["not_in_record"]),
      /^not evaluated again: the record does not contain what decided/,
    );
  });
});
