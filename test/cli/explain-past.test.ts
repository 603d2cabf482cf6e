import assert from "node:assert/strict";
import { join } from "node:path";
import { policyExplainCommand } from "../../src/cli/policy-explain.ts";
import { compileSet } from "../../src/cli/policy-sets.ts";
import { digestOf } from "../../src/decision/policies/snapshot.ts";
import { folderOf, type Folder } from "./support.ts";

const SET = 'policies: [{ resource: "* /**", condition: "true" }]';

describe("cli: policy explain of past requests that no rule decided", () => {
  let folder: Folder;
  before(async () => {
    folder = await folderOf({ "policies/default.yaml": SET });
  });
  after(() => folder.remove());

  const explained = async (record: Readonly<Record<string, string>>, ...args: string[]): Promise<string> => {
    const { ir } = await compileSet(join(folder.path, "policies"), "default");
    assert.ok(ir !== undefined);
    const line = JSON.stringify({
      ...{ timestamp: "2026-01-31T12:00:00Z", request_id: "r-1", decision_id: "d-1", user_id: "" },
      ...{ action: "GET", raw_path: "/a", host: "app.test", client_ip: "192.0.2.1" },
      ...{ decision: "DENY", rule: null, policy_set: "default@v0", policy_digest: digestOf(ir), ...record },
    });
    await folder.add({ "audit.log": `${line}\n` });
    const file = ["-d", join(folder.path, "policies"), "--audit-file", join(folder.path, "audit.log")];
    let text = "";
    await policyExplainCommand((more) => (text += more)).parseAsync(
      [...file, "--request-id", "r-1", ...args],
      { from: "user" },
    );
    return text;
  };

  const SAME = /same outcome:\n\nrefused by Envoy before any rule was evaluated$/m;
  const OTHER = /^not evaluated again: .* what Envoy refused \(a header, the body, /m;
  const UPGRADE = ["-H", "Connection: upgrade", "-H", "Upgrade: foo"];
  const cases: readonly (readonly [Readonly<Record<string, string>>, RegExp, ...string[]])[] = [
    [{ reason: "PATH_REFUSED", raw_path: "/a#***" }, SAME],
    [{ reason: "PATH_REFUSED", raw_path: "*", action: "OPTIONS" }, SAME],
    [{ reason: "UPGRADE_NOT_SUPPORTED", raw_path: "", action: "CONNECT" }, SAME],
    [{ reason: "UPGRADE_NOT_SUPPORTED" }, OTHER],
    [{ reason: "UPGRADE_NOT_SUPPORTED" }, SAME, ...UPGRADE],
    [{ reason: "MALFORMED_REQUEST", action: "BREW" }, SAME],
    [{ reason: "MALFORMED_REQUEST", action: "", raw_path: "" }, OTHER],
    [{ reason: "TOO_MANY_HEADERS" }, OTHER],
    [{ reason: "HEADERS_TOO_LARGE" }, OTHER],
    [{ reason: "HEADERS_TOO_LARGE" }, SAME, "-H", `a: ${"b".repeat(70_000)}`],
    [{ reason: "HEADERS_TOO_LARGE" }, /the outcome is DENY UPGRADE_NOT_SUPPORTED: /, ...UPGRADE],
    [{ reason: "REQUEST_TOO_LARGE" }, OTHER],
    [{ reason: "MALFORMED_REQUEST", action: "QUERY" }, SAME],
    [
      { reason: "PRECONDITION_NOT_SUPPORTED", action: "PUT" },
      /^not evaluated again: .*: a header such as If-Match/m,
    ],
    [{ reason: "BODY_TOO_LARGE", action: "POST" }, /^not evaluated again: .*: the body, /m],
    [{ reason: "POLICY_SETS_CONFLICT" }, /^not evaluated again: .*: another policy set/m],
    [{ reason: "UPGRADE_REQUIRED" }, /^not evaluated again: .*: the protocol version, /m],
    [{ reason: "CLIENT_GONE" }, /^not evaluated again: .*: what the client did on its connection/m],
    [{ reason: "RATE_LIMITED" }, /^not evaluated again: .*: a token or cookie/m],
  ];
  for (const [record, expected, ...more] of cases) {
    it([...Object.values(record), ...more].join(" ").slice(0, 80), async () => {
      const text = await explained(record, ...more);
      assert.match(text, expected);
      assert.match(text, new RegExp(`^DENY \\(\\d+\\) ${record["reason"]}: `));
      assert.doesNotMatch(text, /ALLOW/);
    });
  }
});
