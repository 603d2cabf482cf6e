import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gatehouse, keptCommandLine } from "./support.ts";

const run = promisify(execFile);

describe("cli", () => {
  const commands = [
    [],
    ["up"],
    ["control-plane"],
    ["gateway"],
    ["authz"],
    ["envoy-config"],
    ["envoy-install"],
    ["keys"],
    ["keys", "create"],
    ["keys", "list"],
    ["keys", "revoke"],
    ["keys", "roll"],
    ["backup"],
    ["restore"],
    ["keys", "rotate-master"],
    ["migrate"],
    ["owner-link"],
    ["owners"],
    ["owners", "reset"],
    ["policy"],
    ["policy", "validate"],
    ["replay"],
    ["policy", "fmt"],
    ["policy", "test"],
    ["policy", "explain"],
    ["policy", "coverage"],
    ["policy", "diff"],
    ["demo"],
    ["doctor"],
    ["demo", "token"],
    ["demo", "application"],
  ];

  const kept = keptCommandLine();
  after(kept.close);
  /** The short ones are started as users do. */
  const cli = (args: readonly string[]) => (args.length < 2 ? gatehouse(args) : kept.gatehouse(args));

  const listed = new Set<string>();
  for (const command of commands) {
    it(`helps with \`${["gatehouse", ...command].join(" ")}\``, async () => {
      const { code, stdout, stderr } = await cli([...command, "--help"]);
      assert.deepEqual([code, stderr], [0, ""]);
      assert.match(stdout, new RegExp(`^Usage: ${["gatehouse", ...command].join(" ")} `));
      for (const [, name = ""] of (stdout.split(/^Commands:$/m)[1] ?? "").matchAll(/^ {2}([a-z-]+)/gm))
        if (name !== "help") listed.add([...command, name].join(" "));
    });
  }

  it("lists every command there is in the help of the one above it", () => {
    assert.deepEqual(
      [...listed].sort(),
      commands
        .map((command) => command.join(" "))
        .filter(Boolean)
        .sort(),
    );
  });

  it("says its version", async () => {
    const manifest = JSON.parse(await readFile(new URL("../../package.json", import.meta.url), "utf8")) as {
      version: string;
    };
    assert.deepEqual(await gatehouse(["--version"]), {
      code: 0,
      stdout: `${manifest.version}\n`,
      stderr: "",
    });
  });

  const wrong: readonly [string[], RegExp][] = [
    [["gatway"], /unknown command 'gatway'\n\(Did you mean gateway\?\)/],
    [["policy", "valdate"], /unknown command 'valdate'\n\(Did you mean validate\?\)/],
    [["policy", "validate", "--jsn"], /unknown option '--jsn'\n\(Did you mean --json\?\)/],
    [["gateway", "--confg", "x"], /unknown option '--confg'\n\(Did you mean --config\?\)/],
    [["gateway", "extra"], /too many arguments/],
    [["gateway", "--config"], /argument missing/],
    [["policy", "explain"], /exactly one of --request, --graphql, --websocket and --request-id/],
    [["up", "--port", "http"], /is not a port/],
    [["up", "--port", "65536"], /is not a port/],
    [["up", "--admin-port", "-1"], /is not a port|argument missing/],
    [[], /^Usage: gatehouse /],
    [["policy"], /^Usage: gatehouse policy /],
  ];
  for (const [args, message] of wrong) {
    it(`exits with 2 for \`gatehouse ${args.join(" ")}\`, and says why on stderr`, async () => {
      const { code, stdout, stderr } = await cli(args);
      assert.equal(code, 2);
      assert.equal(stdout, "");
      assert.match(stderr, message);
    });
  }

  it("says what is missing under an older Node.js, and exits with 2", async () => {
    const system = ["/usr/bin/node", "/usr/local/bin/node"].find((path) => existsSync(path));
    const version = system === undefined ? "" : (await run(system, ["--version"])).stdout.trim();
    if (system !== undefined && Number(/^v(\d+)/.exec(version)?.[1]) < 24) {
      const { code, stdout, stderr } = await gatehouse(["--help"], { node: system });
      assert.deepEqual([code, stdout], [2, ""]);
      assert.match(stderr, /^gatehouse needs Node\.js 24 or newer, but this is [\d.]+\.\n/);
      return;
    }
    // No old one at hand: the same file in a process that takes itself for one.
    const script = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.1.0" } });
      process.argv[1] = ${JSON.stringify("gatehouse")}; await import(${JSON.stringify(new URL("../../bin/gatehouse.js", import.meta.url).href)});`;
    const failed = (await run(process.execPath, ["--input-type=module", "--eval", script]).catch(
      (error: unknown) => error,
    )) as { code: number; stderr: string };
    assert.equal(failed.code, 2);
    assert.match(failed.stderr, /^gatehouse needs Node\.js 24 or newer, but this is 20\.1\.0\.\n/);
  });
});
