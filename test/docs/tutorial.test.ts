import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { withPlaces } from "../authorizers/support/guide.ts";
import { NPX, runCommands } from "../deploy/support/guide-blocks.ts";
import { Processes } from "../deploy/support/processes.ts";
import { envoyBinary } from "../support/envoy.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { isInstalled } from "../support/programs.ts";
import { FREE_PORTS, ROOT, upFolder } from "../support/up.ts";
import { pageBlocks } from "./support/page-blocks.ts";

const CLI = join(ROOT, "bin/gatehouse.js");

/** Commands that stay, and how to see that they are ready. */
const STAYING: readonly (readonly [command: RegExp, ready: (printed: string, port: number) => unknown])[] = [
  [/^make run$/m, (printed) => printed.includes("Ctrl-C")],
  [/^node tutorial\/app\.mjs$/m, async (_, application) => fetch(`http://127.0.0.1:${application}/`)],
  [/^npx gatehouse gateway /m, (printed) => printed.includes("gatehouse gateway ready on")],
];

/** Programs of the page: this checkout's, on free ports. */
const PROGRAMS = `${NPX}
node() { exec "\${NODE}" "$@"; }
make() { [ "$*" = run ] && exec "\${NODE}" "\${CLI}" up ${FREE_PORTS.join(" ")}; }`;

if (isInstalled("curl", "the tutorial"))
  describe("docs/tutorial.md", function () {
    this.timeout(1_200_000);
    const processes = new Processes();
    after(() => processes.stop());

    it("leads from a checkout to a policy that was changed while the gateway ran", async () => {
      const folder = await upFolder();
      const [application, gateway] = [await freePort(), await freePort()];
      const places: Record<string, string> = {
        "http://127.0.0.1:3000": `http://127.0.0.1:${application}`,
        "listen(3000": `listen(${application}`,
        "http://127.0.0.1:3001": `http://127.0.0.1:${gateway}`,
        "listen_port: 3001": `listen_port: ${gateway}`,
        "port: 9190": "port: 0",
      };
      const placed = (text: string) =>
        withPlaces(
          text,
          Object.fromEntries(Object.entries(places).filter(([written]) => text.includes(written))),
        );
      const env = {
        ...process.env,
        ENVOY_BIN: await envoyBinary(),
        // the machine may be busy
        GATEHOUSE_AUTHZ_DECISION_TIMEOUT: "15s",
        GATEHOUSE_GATEWAY_CLUSTER_NODES: "1",
      };
      // what the reader's shell keeps from one block to the next
      const variables = join(folder, "variables.sh");
      await writeFile(variables, "");
      // unlike those that stay, these commands do not take the shell's place
      const prelude = `. ${variables}\nnpx() { shift; "${process.execPath}" "${CLI}" "$@"; }`;

      const blocks = pageBlocks("tutorial.md");
      const started = new Set<RegExp>();
      let [changedLive, ran] = [false, 0];
      for (const [index, { language, text, file }] of blocks.entries()) {
        if (file !== undefined) {
          await mkdir(join(folder, dirname(file)), { recursive: true });
          await writeFile(join(folder, file), placed(text));
          changedLive = started.size === STAYING.length && file.startsWith("tutorial/policies/default/");
          continue;
        }
        if (language !== "sh") {
          assert.equal(language, "console");
          continue;
        }
        const staying = STAYING.find(([command]) => command.test(text));
        if (staying !== undefined) {
          const words = ["--norc", "-euo", "pipefail", "-c", `${PROGRAMS}\n${text}`, "bash"];
          await processes.start(
            "bash",
            [...words, process.execPath, CLI],
            { cwd: folder, env },
            (printed) => staying[1](printed, application),
            400_000,
          );
          started.add(staying[0]);
          if (text.startsWith("make")) {
            const state = await readFile(join(folder, ".gatehouse/up.json"), "utf8");
            const { sandbox_url: sandbox } = JSON.parse(state) as { sandbox_url: string };
            places["http://127.0.0.1:8081"] = sandbox;
          }
          continue;
        }

        if (text.startsWith("rm ")) await processes.stop();
        const next = blocks[index + 1];
        const expected = next?.language === "console" ? next.text : undefined;
        const names = [...text.matchAll(/^([A-Z]+)=/gm)].map(([, name]) => name).join(" ");
        const keep = names === "" ? "" : `declare -p ${names} >> ${variables}\n`;
        const run = async () => {
          const printed = await runCommands(`${placed(text)}${keep}`, { cwd: folder, env, prelude });
          if (expected !== undefined) assert.equal(printed, expected, text);
          return true;
        };
        // a record is written, and a change is in force, a moment later
        if (text.startsWith("grep ") || changedLive) await eventually(text, run);
        else await run();
        changedLive = false;
        ran += 1;
      }
      assert.equal(ran, 11);
      assert.ok(!existsSync(join(folder, "tutorial")));
      assert.match(
        await readFile(join(ROOT, "Makefile"), "utf8"),
        /^run: .*\n\tnode bin\/gatehouse\.js up$/m,
      );
    });
  });
