import { join } from "node:path";
import { NPX } from "../deploy/support/guide-blocks.ts";
import { envoyBinary } from "../support/envoy.ts";
import { freePort } from "../support/free-port.ts";
import { isInstalled } from "../support/programs.ts";
import { ROOT, upFolder } from "../support/up.ts";
import { textOf } from "../../docs/.vitepress/pages.ts";
import { followFirstRule, followReadme } from "./support/follow-first-steps.ts";
import { Reader } from "./support/reader.ts";

/** Programs of the pages: this checkout's. `fresh-clone.test.ts` has the programs themselves. */
const STAND_INS = {
  staying: `${NPX}
make() { [ "$*" = run ] && exec "\${NODE}" "\${CLI}" up; }`,
  // unlike those that stay, these commands do not take the shell's place
  others: `NODE=$1 CLI=$2
npx() { shift; "\${NODE}" "\${CLI}" "$@"; }
make() { command make --no-print-directory -C '${ROOT}' "$@"; }`,
  parameters: [process.execPath, join(ROOT, "bin/gatehouse.js")],
};

if (isInstalled("curl", "the first steps"))
  describe("docs: README.md and docs/first-rule.md", function () {
    this.timeout(600_000);
    let reader: Reader;
    before(async () => {
      reader = new Reader(
        await upFolder(),
        {
          ...process.env,
          ENVOY_BIN: await envoyBinary(),
          // the machine may be busy
          GATEHOUSE_AUTHZ_DECISION_TIMEOUT: "15s",
          GATEHOUSE_GATEWAY_CLUSTER_NODES: "1",
        },
        STAND_INS,
      );
    });
    after(() => reader.stop());

    it("lead from a checkout to a first denied request, and to a rule of one's own", async () => {
      const [gateway, sandbox] = [await freePort(), await freePort()];
      reader.places["http://127.0.0.1:8000"] = `http://127.0.0.1:${gateway}`;
      reader.places["http://127.0.0.1:8081"] = `http://127.0.0.1:${sandbox}`;
      await followReadme(reader, textOf("README.md"), {
        env: {
          GATEHOUSE_GATEWAY_LISTEN_PORT: String(gateway),
          GATEHOUSE_API_SANDBOX_PORT: String(sandbox),
          GATEHOUSE_API_PORT: String(await freePort()),
          GATEHOUSE_TELEMETRY_PORT: String(await freePort()),
          GATEHOUSE_TELEMETRY_CONTROL_PLANE_PORT: String(await freePort()),
        },
      });
      await followFirstRule(reader, textOf("docs/first-rule.md"));
    });
  });
