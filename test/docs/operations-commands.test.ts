import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { load } from "js-yaml";
import { runCommands } from "../deploy/support/guide-blocks.ts";
import { apiClient, startControlPlaneProcess, type ControlPlaneProcess } from "../support/control-plane.ts";
import { databaseDirectory, makeDataDirectory } from "../support/temporary-directory.ts";
import { ROOT } from "../support/up.ts";
import { blockWith } from "./support/page-blocks.ts";

const PAGE = "docs/operations.md";
/** `gatehouse`, of this checkout. */
const PROGRAM = `gatehouse() { '${process.execPath}' '${join(ROOT, "bin/gatehouse.js")}' "$@"; }`;

/** The commands of docs/operations.md, as they are written there, except for places, on a control plane with both environments. */
describe("docs: commands about the operation of a control plane", function () {
  this.timeout(600_000);
  const keys: Readonly<Record<string, string>> = {
    OLD: randomBytes(32).toString("base64"),
    NEW: randomBytes(32).toString("base64"),
  };
  /** `api` of each step that the page shows, with keys. */
  const steps = blockWith(PAGE, "previous_encryption_keys", "yaml")
    .split("\n")
    .filter((line) => line.startsWith("api:"))
    .map((line) => load(line.replaceAll(/\b(?:OLD|NEW)\b/g, (name) => keys[name] ?? "")) as { api: object });
  let plane: ControlPlaneProcess;

  before(async () => {
    plane = await startControlPlaneProcess({ config: { api: { encryption_key: keys["OLD"] } } });
    // a secret of each environment
    for (const environment of ["production", "sandbox"] as const) {
      const api = apiClient(plane.url[environment], await plane.createKey(environment, "full_access"));
      const hook = { url: "http://127.0.0.1:9/hook", events: ["customer.created"] };
      const { status, body } = (await api("POST", "/webhooks", hook)) as { status: number; body: unknown };
      assert.equal(status, 201, JSON.stringify(body));
    }
  });
  after(() => plane.stop());

  const run = (part: string, places: Readonly<Record<string, string>> = {}, cwd = plane.directory) =>
    runCommands(blockWith(PAGE, part), { cwd, prelude: PROGRAM, places });
  const restartWith = async (config: { readonly api: object }) => {
    assert.equal(await plane.stop(), 0, plane.stderr());
    plane = await startControlPlaneProcess({
      config: config as Readonly<Record<string, Readonly<Record<string, unknown>>>>,
      directory: plane.directory,
      ports: [plane.url.production, plane.url.sandbox],
    });
  };

  it("migrate", async () => {
    const printed = await run("gatehouse migrate", { "http://HOST:8080": plane.url.production });
    for (const environment of ["production", "sandbox"])
      assert.equal(printed.split(`${environment}: up to date\n`).length, 3, printed);
    assert.match(printed, /"schema"/);
  });

  it("replace the encryption key, in the steps of the page", async () => {
    const [both, swapped, last, ...more] = steps;
    assert.ok(both && swapped && last && more.length === 0);
    await restartWith(both);
    await restartWith(swapped);
    const printed = await run("keys rotate-master");
    for (const environment of ["production", "sandbox"])
      assert.match(printed, new RegExp(`${environment}.*encrypted with the key`, "s"));
    await restartWith(last);
    assert.equal((await fetch(`${plane.url.production}/readyz`)).status, 200);
  });

  it("back up, and restore into a folder that has no database", async () => {
    const backups = await databaseDirectory();
    const places = { "/backups/": `${backups}/` };
    await run("gatehouse backup", places);
    const [name = "", ...others] = await readdir(backups);
    assert.match(name, /^gatehouse-\d{4}-\d\d-\d\d$/);
    assert.deepEqual(others, []);
    const directory = await databaseDirectory();
    await makeDataDirectory(join(directory, ".gatehouse"));
    assert.match(await run("gatehouse restore", places, directory), /^restored to .*\.gatehouse/m);
    assert.ok((await readdir(join(directory, ".gatehouse/postgres"))).includes("cluster"));
  });
});
