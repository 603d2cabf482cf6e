import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { NPX } from "../deploy/support/guide-blocks.ts";
import { envoyBinary } from "../support/envoy.ts";
import { isInstalled } from "../support/programs.ts";
import { FREE_PORTS, ROOT, upFolder } from "../support/up.ts";
import { followTutorial } from "./support/follow-tutorial.ts";
import { pageText } from "./support/page-blocks.ts";
import { Reader } from "./support/reader.ts";

/** Programs of the page: this checkout's, on free ports. `fresh-clone.test.ts` has the programs themselves. */
const STAND_INS = {
  staying: `${NPX}
node() { exec "\${NODE}" "$@"; }
make() { [ "$*" = run ] && exec "\${NODE}" "\${CLI}" up ${FREE_PORTS.join(" ")}; }`,
  // unlike those that stay, these commands do not take the shell's place
  others: `NODE=$1 CLI=$2
npx() { shift; "\${NODE}" "\${CLI}" "$@"; }`,
  parameters: [process.execPath, join(ROOT, "bin/gatehouse.js")],
};

if (isInstalled("curl", "the tutorial"))
  describe("docs/tutorial.md", function () {
    this.timeout(1_200_000);
    let reader: Reader | undefined;
    after(() => reader?.stop());

    it("leads from a checkout to a policy that was changed while the gateway ran", async () => {
      const env = {
        ...process.env,
        ENVOY_BIN: await envoyBinary(),
        // the machine may be busy
        GATEHOUSE_AUTHZ_DECISION_TIMEOUT: "15s",
        GATEHOUSE_GATEWAY_CLUSTER_NODES: "1",
      };
      reader = new Reader(await upFolder(), env, STAND_INS);
      await followTutorial(reader, pageText("tutorial.md"));
      assert.match(
        await readFile(join(ROOT, "Makefile"), "utf8"),
        /^run: .*\n\tnode bin\/gatehouse\.js up$/m,
      );
    });
  });
