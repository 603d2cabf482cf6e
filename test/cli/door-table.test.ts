import assert from "node:assert/strict";
import { guideText } from "../authorizers/support/guide.ts";
import { DOOR_ABILITIES } from "../../src/authorizers/index.ts";
import { folderOf, keptCommandLine } from "./support.ts";

/** The columns of the table, and the doors of `policy validate`. */
const DOORS: Readonly<Record<string, string>> = {
  ...{ nginx: "nginx", Caddy: "caddy", HAProxy: "haproxy", Traefik: "traefik" },
  ...{ "Envoy, HTTP": "envoy-http", "API Gateway": "aws", AuthZEN: "authzen" },
};
/** Those whose doors `policy validate` does not know: they are given as much as people choose. */
const OTHERS = ["gateway", "Envoy, gRPC", "Gateway API, gRPC"];

/** The rows, each with rules of that kind. */
const ROWS: Readonly<Record<string, readonly string[]>> = {
  "reads identity, path, query, headers, client address": [
    'policies: [{ resource: "GET /a/{id}", condition: user.id == path.id }]',
    'policies: [{ resource: GET /a, condition: request.query.q == "1" }]',
    'policies: [{ resource: GET /a, condition: request.headers.accept == "text/html" }]',
    'policies: [{ resource: GET /a, condition: request.client_ip == "192.0.2.1" }]',
  ],
  "reads `request.protocol`": [
    'policies: [{ resource: GET /a, condition: request.protocol == "HTTP/2" }]',
    'web_policies: [{ path: /a, condition: user.id == "a" and not (request.protocol == "HTTP/1.0") }]',
  ],
  "reads the body, or permits GraphQL operations in it": [
    "policies: [{ resource: POST /a, condition: request.body.a == 1 }]",
    'graphql_policies: [{ query: orders, condition: "true" }]',
  ],
  "masks responses": [
    `policies: [{ resource: GET /a, condition: "true" }]
response_filters: [{ endpoint: /a, filter_rules: [{ field: ssn, condition: exists(user.id), action: remove }] }]`,
    `policies: [{ resource: GET /a, condition: "true" }]
response_masks: [{ api_pattern: /a, fields: [{ name: ssn, condition: exists(user.id), mask_type: full }] }]`,
  ],
  "evaluates WebSocket messages": [
    `websocket_policies: [{ connection: { path: /a, condition: "true" }, message_types: [{ type: say, condition: "true" }] }]`,
  ],
};
/** Whether a request is a handshake is not in the rules; `authorizers/door` has the handshakes. */
const BY_REQUEST = "permits WebSocket connections by their path";

describe("docs: what each door can enforce", () => {
  const kept = keptCommandLine();
  after(kept.close);
  const [head = [], , ...rows] = guideText("README")
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );

  it("has a column for every door, and these rows", () => {
    assert.deepEqual(head.slice(1).toSorted(), [...Object.keys(DOORS), ...OTHERS].toSorted());
    assert.deepEqual(Object.values(DOORS).toSorted(), Object.keys(DOOR_ABILITIES).toSorted());
    assert.deepEqual(
      rows.map(([row]) => row?.replace(/^a rule that /, "")),
      [...Object.keys(ROWS), BY_REQUEST],
    );
  });

  for (const [row = "", ...cells] of rows.filter(([row]) => row !== BY_REQUEST))
    it(`${row}: \`policy validate --door\` says the same`, async () => {
      for (const rules of ROWS[row] ?? assert.fail(row)) {
        const folder = await folderOf({ "policies/default.yaml": `${rules}\n` });
        try {
          for (const [index, cell] of cells.entries()) {
            const column = head[index + 1] ?? "";
            const door = DOORS[column];
            if (door === undefined) continue;
            const { code, stdout } = await kept.gatehouse(["policy", "validate", "--door", door], {
              cwd: folder.path,
            });
            assert.equal(code, cell === "no" ? 1 : 0, `${column}: ${rules}\n${stdout}`);
            if (cell === "no") assert.match(stdout, /not-enforceable/, column);
          }
        } finally {
          await folder.remove();
        }
      }
    });
});
