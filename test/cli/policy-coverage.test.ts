import assert from "node:assert/strict";
import { folderOf, keptCommandLine, type Folder } from "./support.ts";

const SET = `policy_set: shop
policies:
  - name: read
    resource: GET /orders/{id}
    condition: user.role == "clerk" and customer.id == path.id
response_masks:
  - api_pattern: GET /orders/{id}
    fields:
      - { name: ssn, mask_type: full, condition: 'user.level < 5 or item.secret' }
websocket_policies:
  - connection: { path: /ws, condition: exists(user.id) }
    message_types:
      - { type: join, condition: user.role == "clerk" and message.room == "a" }
`;
const SUITE = `policy_set: shop
tests:
  - name: a clerk
    request: GET /orders/c-1
    user: { id: u-1, role: clerk, customer_id: c-1, level: 9 }
    response: { status: 200, body: [{ ssn: "1", secret: true }, { ssn: "2", secret: false }] }
    expect: allow
  - name: nobody
    request: GET /orders/c-1
    user: none
    expect: deny
  - name: messages
    websocket: /ws
    user: { id: u-1, role: clerk }
    expect: allow
    messages:
      - { send: { type: join, room: a }, expect: allow }
      - { send: { type: join, room: b }, expect: deny }
`;

describe("cli: policy coverage", () => {
  const kept = keptCommandLine();
  let folder: Folder;
  beforeEach(async () => {
    folder = await folderOf({ "policies/shop.yaml": SET, "policies/shop.test.yaml": SUITE });
  });
  afterEach(() => folder.remove());
  after(kept.close);
  const coverage = (...options: string[]) =>
    kept.gatehouse(["policy", "coverage", ...options], { cwd: folder.path });

  it("lists the parts of conditions that tests never make true, false or unknown", async () => {
    const { code, stdout, stderr } = await coverage();
    assert.deepEqual([code, stderr], [0, ""]);
    assert.equal(
      stdout,
      `policy set shop: 17 of 29 outcomes shown (58.6 %)
   true  false  unknown
      1  never        1  policies[0] (read): user.role == "clerk" and customer.id == path.id
      1  never        1    user.role == "clerk"
      1  never        1    customer.id == path.id
      1      1    never  response_masks[0] ssn: user.level < 5 or item.secret
  never      1    never    user.level < 5
      1      1    never    item.secret
      1  never        -  websocket_policies[0].connection: exists(user.id)
      1      1    never  websocket_policies[0].message_types[0]: user.role == "clerk" and message.room == "a"
      2  never    never    user.role == "clerk"
      1      1    never    message.room == "a"
`,
    );
  });

  it("prints JSON, and fails below a limit", async () => {
    const json = await coverage("--json", "--fail-under", "50");
    assert.equal(json.code, 0);
    const { sets } = JSON.parse(json.stdout) as {
      sets: {
        policy_set: string;
        shown: number;
        conditions: { id: string; missing: string[]; parts: object[] }[];
      }[];
    };
    assert.deepEqual([sets[0]?.policy_set, sets[0]?.shown], ["shop", 17]);
    const [first] = sets[0]?.conditions ?? [];
    assert.deepEqual([first?.id, first?.missing, first?.parts.length], ["policies[0]", ["false"], 2]);
    const low = await coverage("shop.test.yaml", "--fail-under", "58.7");
    assert.deepEqual([low.code, low.stderr], [1, "shop: 58.6 % is less than 58.7 %\n"]);
  });

  it("fails if a test does, and for a limit that is none", async () => {
    await folder.add({ "policies/shop.test.yaml": SUITE.replace("expect: deny", "expect: allow") });
    const failed = await coverage();
    assert.equal(failed.code, 1);
    assert.match(failed.stderr, /tests failed/);
    for (const limit of ["101", "-1", "x", ""]) {
      const { code, stderr } = await coverage("--fail-under", limit);
      assert.deepEqual([code, stderr.includes("from 0 to 100")], [2, true], stderr);
    }
  });
});
