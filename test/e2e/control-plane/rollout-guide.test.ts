import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { load } from "js-yaml";
import { blocksOf, withPlaces } from "../../authorizers/support/guide.ts";
import { runCommands } from "../../deploy/support/guide-blocks.ts";
import {
  PRODUCTION_ONLY,
  startControlPlaneProcess,
  type ControlPlaneProcess,
} from "../../support/control-plane.ts";
import { eventually } from "../../support/eventually.ts";
import { startGateway, type RunningGateway } from "../../support/gateway.ts";
import {
  startAnsweringUpstream,
  type AnsweringUpstream,
} from "../../support/upstreams/answering-upstream.ts";

const ROOT = new URL("../../../", import.meta.url);
const CLI = fileURLToPath(new URL("bin/gatehouse.js", ROOT));
const [, PUBLISHED = ""] = pageOf("rollout").split("## Published sets");
const FLEET = pageOf("fleet");

function pageOf(name: string): string {
  return readFileSync(new URL(`docs/${name}.md`, ROOT), "utf8");
}

/** The commands of docs/rollout.md about published sets, and of docs/fleet.md, as they are written there, except for places. */
describe("end to end: the guide to rollouts of published sets", function () {
  this.timeout(300_000);
  let plane: ControlPlaneProcess;
  let upstream: AnsweringUpstream;
  let gateway: RunningGateway;
  const [prepare = "", activate = "", start = "", change = "", promote = "", rollback = "", ...others] =
    blocksOf(PUBLISHED, "sh");
  const npx = `npx() { shift; '${process.execPath}' '${CLI}' "$@"; }`;

  before(async () => {
    [plane, upstream] = await Promise.all([
      startControlPlaneProcess({ config: { api: PRODUCTION_ONLY } }),
      startAnsweringUpstream(),
    ]);
  });
  after(async () => {
    gateway.process.kill("SIGKILL");
    await upstream.close();
    await plane.stop();
  });

  const places = () => ({ "http://127.0.0.1:8080": plane.url.production });
  /** Each of the block's calls must succeed. */
  async function call(block: string): Promise<string> {
    const known = prepare.split("\n").filter((line) => !line.includes("npx"));
    const prelude = withPlaces(["KEY=$(cat key.txt)", ...known].join("\n"), places());
    const printed = await runCommands(block, { cwd: plane.directory, prelude });
    assert.equal(printed.split('"success":true').length - 1, block.split(/^call /m).length - 1, printed);
    return printed;
  }
  const isSaid = (text: string) =>
    eventually(`/readyz says \`${text}\``, async () =>
      (await (await fetch(`${gateway.adminUrl}/readyz`)).text()).includes(text),
    );

  it("connects a gateway to the active version", async () => {
    assert.deepEqual(others, [], "every block is tried here");
    const keep = `${prepare}printf %s "$KEY" > key.txt\n`;
    await runCommands(keep, { cwd: plane.directory, prelude: npx, places: places() });
    await call(activate);
    const [rollout = ""] = blocksOf(PUBLISHED, "yaml");
    const written = withPlaces(rollout, { ...places(), "http://127.0.0.1:3000": upstream.url });
    const { gateway: _, ...sections } = load(written) as Record<string, Record<string, unknown>>;
    const key = join(plane.directory, "gateway.key");
    assert.match(await readFile(key, "utf8"), /^\S+\n$/);
    const [fleet = ""] = blocksOf(FLEET, "yaml");
    const { gateway: cluster } = load(fleet) as Record<string, Record<string, unknown>>;
    gateway = await startGateway({
      backend: upstream.url,
      issuer: { url: plane.url.production, audience: "gatehouse" },
      policies: {},
      config: {
        ...sections,
        ...(cluster && { gateway: cluster }),
        control_plane: { ...sections["control_plane"], api_key_file: key },
      },
    });
    await isSaid("default@v1 is in force");
  });

  it("starts in shadow, goes up, is promoted and rolled back", async () => {
    await call(start);
    await isSaid("default@v2 is evaluated in shadow and decides nothing");
    assert.match(await call(change), /"percentage":1,.*"percentage":10,"steps":\[10,50,100\]/s);
    await isSaid("default@v2 decides for 10 % of the callers, by user");
    assert.match(await call(promote), /"state":"promoted"/);
    await isSaid("default@v2 is in force");
    await call(rollback);
    await isSaid("default@v1 is in force");
  });

  it("lists the gateway with what it enforces", async () => {
    const [list = ""] = blocksOf(FLEET, "sh");
    const url = { "https://gatehouse.example/": `${plane.url.production}/` };
    await eventually("the gateway", async () => {
      const printed = await runCommands(list, { cwd: plane.directory, prelude: npx, places: url });
      const { data } = JSON.parse(printed) as { data: readonly { id: string; status: string }[] };
      return data.length === 1 && data[0]?.id === "eu-1" && data[0].status === "alive";
    });
  });
});
