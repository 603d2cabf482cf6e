import assert from "node:assert/strict";
import { load } from "js-yaml";
import { guideBlock } from "../authorizers/support/guide.ts";
import { readGatewayConfig } from "./support/read-config.ts";
import { deployText } from "./support/deploy-file.ts";

/** `test/authorizers/proxies.test.ts` runs the files, and people copy from the guides. */
describe("deploy: configurations of proxies that ask", () => {
  for (const [page, language, file] of [
    ["nginx", "nginx", "nginx/auth-request.conf"],
    ["haproxy", "haproxy", "haproxy/spoe.cfg"],
    ["haproxy", "spoe", "haproxy/gatehouse.conf"],
    ["caddy", "caddyfile", "caddy/forward-auth.Caddyfile"],
  ] as const)
    it(`${file} has the block of docs/deployment/${page}.md`, () => {
      assert.ok(deployText(file).includes(guideBlock(page, language)));
    });

  for (const [page, key] of [
    ["nginx", "http_listen"],
    ["caddy", "http_listen"],
    ["haproxy", "spop_listen"],
  ] as const)
    it(`authz.yaml has what docs/deployment/${page}.md says`, () => {
      const {
        authz,
        policies: _policies,
        ...written
      } = load(deployText("authz.yaml")) as {
        readonly authz: Readonly<Record<string, unknown>>;
        readonly policies: object;
      };
      const guide = load(guideBlock(page, "yaml"));
      assert.deepEqual(guide, {
        ...written,
        authz: { [key]: authz[key], http_callers: authz["http_callers"] },
      });
    });

  for (const file of ["front-proxy.yaml", "authz.yaml"])
    it(`${file} is a configuration without errors`, async () => {
      await readGatewayConfig(deployText(file));
    });
});
