import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { load } from "js-yaml";
import { guideBlock, guideBlocks, guideText } from "../authorizers/support/guide.ts";
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
      // the file is for all of them
      const doors = key === "http_listen" ? { http_doors: [page] } : {};
      if (key === "http_listen") assert.ok((authz["http_doors"] as readonly string[]).includes(page));
      const guide = load(guideBlock(page, "yaml"));
      assert.deepEqual(guide, {
        ...written,
        authz: { [key]: authz[key], http_callers: authz["http_callers"], ...doors },
      });
    });

  for (const file of ["front-proxy.yaml", "authz.yaml"])
    it(`${file} is a configuration without errors`, async () => {
      await readGatewayConfig(deployText(file));
    });
});

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

describe("docs: deployment", () => {
  const pages = globSync("docs/deployment/*.md", { cwd: ROOT }).map((file) => file.slice(16, -3));

  it("has commands and says what is enforced on every page, and lists every page", () => {
    const index = guideText("README");
    for (const page of pages.filter((name) => name !== "README")) {
      // which test runs them is in test/docs/support/run-by.ts
      assert.ok(guideBlocks(page, "sh").length > 0, page);
      assert.ok(guideText(page).includes("(README.md#what-each-can-enforce)"), page);
      assert.ok(index.includes(`(${page}.md)`), page);
    }
  });
});
