import assert from "node:assert/strict";
import { loadGatewayConfig } from "../../src/config/index.ts";

const load = (keys: Readonly<Record<string, unknown>>) =>
  loadGatewayConfig({
    env: {},
    overrides: { "identity.issuer": "https://login.test", "identity.audience": "app", ...keys },
  });

describe("configuration: who asks for decisions over HTTP, and the fleet", () => {
  const listens = { "authz.http_listen": "127.0.0.1:9292" };
  const asked = { ...listens, "authz.http_callers": ["127.0.0.1"] };
  const refused: readonly (readonly [Readonly<Record<string, unknown>>, string])[] = [
    [{ ...listens, "authz.http_callers": ["10.0.0"] }, "must be an address, a network"],
    [{ ...listens, "authz.http_callers": ["10.0.0/8"] }, "must be an address, a network"],
    [{ "authz.http_listen": "9292", "authz.http_callers": ["127.0.0.1"] }, "must be an address and port"],
    [listens, "nobody may ask"],
    [{ "authz.http_callers": ["127.0.0.1"] }, "has no effect without `authz.http_listen`"],
    [{ ...asked, "authz.http_doors": ["nginx", "apache"] }, "`apache`"],
    [{ ...asked, "authz.http_doors": ["haproxy"] }, "`haproxy`"],
    [{ ...asked, "authz.http_doors": [] }, "must not be empty"],
    [
      { ...asked, "authz.http_door_callers": { apache: ["127.0.0.1"] } },
      "`authz.http_door_callers.apache` is not a key",
    ],
    [{ ...asked, "authz.http_door_callers": { aws: ["10.0.0"] } }, "must be an address, a network"],
    [{ ...asked, "authz.http_door_callers": { aws: ["a.test"] } }, "needs `authz.tls.client_ca`"],
    [
      { ...asked, "authz.http_doors": ["nginx"], "authz.http_door_callers": { aws: ["127.0.0.1"] } },
      "`aws` is not in `authz.http_doors`",
    ],
    [
      { "authz.http_door_callers": { aws: ["127.0.0.1"] } },
      "`authz.http_door_callers` has no effect without `authz.http_listen`",
    ],
    [
      { ...asked, "authz.http_door_callers": { haproxy: ["127.0.0.1"] } },
      "`haproxy` has no effect without `authz.spop_listen`",
    ],
    [{ ...listens, "authz.http_callers": ["a.test"] }, "needs `authz.tls.client_ca`"],
    [
      { "authz.http_listen": "127.0.0.1:9191", "authz.http_callers": ["127.0.0.1"] },
      "has ports of `authz.listen`",
    ],
    [{ "authz.aws.base_paths": ["/shop/"] }, "must be a path such as `/shop`"],
    [{ "authz.aws.usage_identifier_header": "x-plan" }, "is not a header in `identity.headers`"],
    [{ "authz.authzen.subject_sources": { user: "staff" } }, "`staff` must be a source of the type `file`"],
    [
      { "authz.authzen.subjects": ["robot"], "authz.authzen.subject_sources": { user: "staff" } },
      "`user` must be one of `authz.authzen.subjects`",
    ],
    [{ "authz.spop_listen": "127.0.0.1:9392" }, "nobody may ask"],
    [
      { "authz.spop_listen": "10.0.0.1:9392", "authz.http_callers": ["10.0.0.1"] },
      "must be a loopback address",
    ],
    [{ "authz.spop_listen": "proxy:9392", "authz.http_callers": ["10.0.0.1"] }, "must be a loopback address"],
    [
      { ...listens, "authz.spop_listen": "127.0.0.1:9292", "authz.http_callers": ["127.0.0.1"] },
      "has ports of another listener",
    ],
    [
      { "authz.spop_listen": "127.0.0.1:9191", "authz.http_callers": ["127.0.0.1"] },
      "has ports of another listener",
    ],
    [{ "gateway.cluster.coordination": "redis" }, "must be one of `local`, `control_plane`, not `redis`"],
    [{ "gateway.cluster.coordination": "control_plane" }, "needs `control_plane.url`"],
  ];
  for (const [keys, expected] of refused)
    it(`is refused: ${JSON.stringify(keys)}`, () => {
      const result = load(keys);
      assert.ok(!result.ok && result.errors.includes(expected), result.ok ? "accepted" : result.errors);
    });

  it("is taken with addresses and networks", () => {
    const result = load({ ...listens, "authz.http_callers": ["127.0.0.1", "::1", "10.0.0.0/8"] });
    assert.ok(result.ok, result.ok ? "" : result.errors);
    for (const listen of ["127.0.0.1:9392", "[::1]:9392"]) {
      const spop = load({ "authz.spop_listen": listen, "authz.http_callers": ["127.0.0.1"] });
      assert.ok(spop.ok, spop.ok ? "" : spop.errors);
    }
  });
});
