import assert from "node:assert/strict";
import { gatewaySettings } from "../../../src/cli/explained-gateway.ts";
import { loadGatewayConfig } from "../../../src/config/index.ts";
import { USUAL_GATEWAY, type GatewaySettings } from "../../../src/decision/explain/index.ts";

describe("the gateway of explanations without a configuration", () => {
  it("is one that has only defaults", () => {
    const loaded = loadGatewayConfig({ env: {} });
    assert.ok(loaded.ok);
    assert.deepEqual(comparable(USUAL_GATEWAY), comparable(gatewaySettings(loaded.config)));
  });
});

/** Functions cannot be compared, and a header is named once or twice to the same effect. */
function comparable({ forged, decisions: { originCheck, ...decisions }, ...rest }: GatewaySettings) {
  return {
    ...rest,
    forged: { ...forged, names: [...new Set(forged.names)].sort() },
    decisions,
    checksOrigins: originCheck !== undefined,
  };
}
