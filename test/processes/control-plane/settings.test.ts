import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadGatewayConfig } from "../../../src/config/index.ts";
import { controlSettings } from "../../../src/processes/control-plane/settings.ts";

describe("the settings of a control plane", () => {
  let folder: string;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), "gatehouse-"));
  });
  after(() => {
    rmSync(folder, { recursive: true });
  });

  /** Of a configuration with this line. */
  function read(line: string) {
    const file = join(folder, "gateway.yaml");
    writeFileSync(file, `identity: { issuer: https://login.test, audience: app }\n${line}\n`);
    return loadGatewayConfig({ file, env: {} });
  }

  it("have the limit of open sessions per user, which is never missing and never high", () => {
    const limitOf = (line: string) => {
      const result = read(line);
      assert.ok(result.ok, line);
      return controlSettings(result.config, "production", "https://api.example.com").sessionsPerUser;
    };
    assert.equal(limitOf(""), 100);
    assert.equal(limitOf("sign_in: { sessions_per_user: 1000 }"), 1000);
    for (const value of ["0", "1001", "1.5", "unlimited"])
      assert.equal(read(`sign_in: { sessions_per_user: ${value} }`).ok, false, value);
  });
});
