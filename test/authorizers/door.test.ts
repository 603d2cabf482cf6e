import assert from "node:assert/strict";
import { nginx } from "../../src/authorizers/nginx.ts";
import { PREFLIGHT } from "../decision/point/support/door-fixtures.ts";
import { useServedDoors } from "../decision/point/support/served-doors.ts";
import { snapshotOf, useIssuer } from "../decision/support.ts";

type Headers = readonly (readonly [name: string, value: string])[];

const valueOf = (headers: Headers, wanted: string) => headers.find(([name]) => name === wanted)?.[1] ?? "";
const client = (headers: Headers) => headers.filter(([name]) => name !== "connection" && name !== "upgrade");

const fromNginx = (path: string, headers: Headers, method = "GET") => [
  ...client(headers),
  ["x-original-request", `${method} ${path} HTTP/1.1`] as const,
  ["x-original-host", "app.test"] as const,
  ["x-original-scheme", "https"] as const,
  ["x-original-address", "192.0.2.7"] as const,
  ["x-original-connection", `=${valueOf(headers, "connection")}`] as const,
  ["x-original-upgrade", `=${valueOf(headers, "upgrade")}`] as const,
];
describe("authorizers: doors", () => {
  const idp = useIssuer();
  const serve = useServedDoors(idp);

  for (const [name, door, ask] of [["nginx", nginx, fromNginx]] as const)
    describe(name, () => {
      it("refuses a message in which a description is missing or repeated", async () => {
        const full = ask("/public", []);
        assert.equal((await serve(door).ask({ headers: full })).status, 200);
        for (const entry of full) {
          const { ask: decide, recorded } = serve(door);
          assert.equal(
            (await decide({ headers: full.filter((one) => one !== entry) })).status,
            500,
            entry[0],
          );
          assert.equal((await decide({ headers: [...full, entry] })).status, 500, entry[0]);
          assert.deepEqual(await recorded(), ["DENY INTERNAL_ERROR", "DENY INTERNAL_ERROR"]);
        }
      });

      it("refuses a list of addresses, and a scheme that is none", async () => {
        const bent = (value: string, other: string) =>
          ask("/public", []).map(([header, text]) => [header, text === value ? other : text] as const);
        const { ask: decide } = serve(door);
        assert.equal((await decide({ headers: bent("192.0.2.7", "192.0.2.7, 10.0.0.1") })).status, 500);
        assert.equal((await decide({ headers: bent("https", "wss") })).status, 500);
      });

      it("never answers a denial with a status that the proxy takes for a permit", async () => {
        const policies = snapshotOf(`
cors: { origins: ["https://app.test"], methods: [PUT] }
policies:
  - { resource: "PUT /x", condition: "false" }
`);
        const { ask: decide, recorded } = serve(door, { policies });
        const { status } = await decide({ headers: ask("/x", PREFLIGHT.slice(0, 2), "OPTIONS") });
        assert.deepEqual(await recorded(), ["DENY PREFLIGHT_ANSWERED"]);
        assert.equal(status, 403);
      });

      it("denies what a client sends to be removed, or to look like another name", async () => {
        for (const [header, reason] of [
          [["x_user_id", "1"], "AMBIGUOUS_HEADERS"],
          [["x-user-id", "1"], "PLAN_NOT_ENFORCEABLE"],
          [["connection", "x-user-id"], "AMBIGUOUS_HEADERS"],
        ] as const) {
          const { ask: decide, recorded } = serve(door);
          assert.equal((await decide({ headers: ask("/public", [header]) })).status >= 400, true, header[0]);
          assert.deepEqual(await recorded(), [`DENY ${reason}`]);
        }
      });
    });

  it("nginx: sends no denial but 401, 403 and failures, which nginx knows", async () => {
    const { ask, recorded } = serve(nginx);
    const statuses = [];
    for (const path of ["/public", "/me", "/nothing", "/a/..%2fb", "/body"])
      statuses.push((await ask({ headers: fromNginx(path, []) })).status);
    assert.deepEqual(statuses, [200, 401, 403, 403, 503]);
    assert.equal((await recorded()).length, 5);
  });
});
