import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { eventually } from "../../support/eventually.ts";
import { freePort } from "../../support/free-port.ts";
import type { Reader } from "./reader.ts";
import { blocksIn } from "./page-blocks.ts";

/** The application's address in the page. */
const APPLICATION = "http://127.0.0.1:3000";

/**
 * Follows docs/tutorial.md to its end, block after block.
 *
 * @param text - of the page
 * @param options.firstMs - how long `make run` may take
 */
export async function followTutorial(
  reader: Reader,
  text: string,
  options: { readonly firstMs?: number; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<void> {
  const { firstMs: boundMs = 400_000, env = {} } = options;
  const [application, gateway] = [await freePort(), await freePort()];
  Object.assign(reader.places, {
    [APPLICATION]: `http://127.0.0.1:${application}`,
    "listen(3000": `listen(${application}`,
    "http://127.0.0.1:3001": `http://127.0.0.1:${gateway}`,
    "listen_port: 3001": `listen_port: ${gateway}`,
    "port: 9190": "port: 0",
  });
  /** Commands that stay, and how to see that they are ready. */
  const staying: readonly (readonly [command: RegExp, isReady: (printed: string) => unknown])[] = [
    [/^make run$/m, (printed) => printed.includes("Ctrl-C")],
    [/^node tutorial\/app\.mjs$/m, async () => fetch(reader.placed(APPLICATION))],
    [/^npx gatehouse gateway /m, (printed) => printed.includes("gatehouse gateway ready on")],
  ];

  const blocks = blocksIn(text);
  let [started, changedLive, ran] = [0, false, 0];
  for (const [index, { language, text: commands, file }] of blocks.entries()) {
    if (file !== undefined) {
      await reader.save(file, commands);
      changedLive = started === staying.length && file.startsWith("tutorial/policies/default/");
      continue;
    }
    if (language !== "sh") {
      assert.equal(language, "console");
      continue;
    }
    const stays = staying.find(([command]) => command.test(commands));
    if (stays !== undefined) {
      const isMake = commands.startsWith("make");
      await reader.start(commands, stays[1], isMake ? { boundMs, env } : {});
      started += 1;
      if (isMake) {
        const state = await readFile(join(reader.folder, ".gatehouse/up.json"), "utf8");
        const { sandbox_url: sandbox } = JSON.parse(state) as { sandbox_url: string };
        reader.places["http://127.0.0.1:8081"] = sandbox;
      }
      continue;
    }

    if (commands.startsWith("rm ")) await reader.stop();
    const next = blocks[index + 1];
    const expected = next?.language === "console" ? next.text : undefined;
    const run = async () => {
      const printed = await reader.run(commands);
      if (expected !== undefined) assert.equal(printed, expected, commands);
      // the record has times and ids of its own
      if (commands.includes(" --request-id "))
        assert.match(printed, /^DENY \(403\) CONDITION_FALSE.*^ +user\.customer_id is "c-1"$/ms);
      return true;
    };
    // a record is written, and a change is in force, a moment later
    if (commands.startsWith("grep ") || changedLive) await eventually(commands, run);
    else await run();
    changedLive = false;
    ran += 1;
  }
  assert.equal(started, staying.length);
  assert.ok(ran > 8, String(ran));
  assert.ok(!existsSync(join(reader.folder, "tutorial")));
}
