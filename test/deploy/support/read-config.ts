import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  loadGatewayConfig,
  type EnvironmentVariables,
  type GatewayConfig,
} from "../../../src/config/index.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

/** Reads a `gateway.yaml` as the programs do, and fails where they would. */
export async function readGatewayConfig(
  text: string,
  env: EnvironmentVariables = {},
): Promise<GatewayConfig> {
  const file = join(await temporaryDirectory(), "gateway.yaml");
  await writeFile(file, text);
  const result = loadGatewayConfig({ file, env });
  assert.ok(result.ok, result.ok ? "" : result.errors);
  return result.config;
}
