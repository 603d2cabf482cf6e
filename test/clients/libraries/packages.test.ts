import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { VERSION } from "../../../clients/node/src/version.ts";
import { nodeProject, packNodeClient } from "./support/node-project.ts";
import { installNodeRuntimes, NODE_RUNTIMES } from "./support/node-runtimes.ts";
import { buildWheel, installWheel, pythonEnvironment, pythonPackages } from "./support/python-project.ts";
import { PYTHON_RUNTIMES } from "./support/python-runtimes.ts";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const CLIENTS = join(ROOT, "clients");

/** Ends a program's failure with what it printed. */
async function output(program: string, args: readonly string[], options: object): Promise<string> {
  const result = await run(program, args, options).catch(
    (error: unknown) => error as { stdout: string; stderr: string },
  );
  return `${result.stdout}${result instanceof Error ? `failed ${result.stderr}` : ""}`;
}

describe("client libraries as packages", function () {
  this.timeout(600_000);
  let project: string;
  let wheel: string;
  let site: string;
  let packages: string;

  before(async () => {
    await installNodeRuntimes();
    project = await nodeProject(await packNodeClient());
    wheel = await buildWheel();
    packages = await pythonPackages("client");
    ({ site } = await installWheel(wheel, "python3", packages));
  });

  it("have one version each, and no dependencies but those that are named", () => {
    const manifest = JSON.parse(readFileSync(join(CLIENTS, "node/package.json"), "utf8")) as Record<
      string,
      unknown
    >;
    assert.equal(manifest["version"], VERSION);
    assert.equal(manifest["dependencies"], undefined);
    const pyproject = readFileSync(join(CLIENTS, "python/pyproject.toml"), "utf8");
    assert.match(pyproject, new RegExp(`^version = "${VERSION}"$`, "m"));
    assert.match(pyproject, /^dependencies = \["httpx>=[\d.]+,<1", "anyio>=4,<5"\]$/m);
    const version = readFileSync(join(CLIENTS, "python/src/gatehouse_access/_version.py"), "utf8");
    assert.match(version, new RegExp(`^VERSION = "${VERSION}"$`, "m"));
  });

  for (const { program, version } of NODE_RUNTIMES) {
    it(`Node.js ${version}: imports and requires every entry`, async () => {
      const entries = ["", "/express", "/fastify", "/hono", "/testing"].map(
        (entry) => `gatehouse-access${entry}`,
      );
      const check = "for (const one of all) console.log(Object.keys(one).length > 0);";
      const commonjs = `const all = ${JSON.stringify(entries)}.map((name) => require(name)); ${check}`;
      const esm = `const all = await Promise.all(${JSON.stringify(entries)}.map((name) => import(name))); ${check}`;
      await writeFile(join(project, "entries.cjs"), commonjs);
      await writeFile(join(project, "entries.mjs"), esm);
      for (const file of ["entries.cjs", "entries.mjs"])
        assert.equal(await output(program, [file], { cwd: project }), "true\n".repeat(entries.length));
    });
  }

  it("Node.js: the types fit users of ES modules and of CommonJS, in strict mode", async () => {
    const code = `
      import { Gatehouse, ApiError, verifyWebhook, type Customer, type ErrorCode } from "gatehouse-access";
      import { requireIdentity } from "gatehouse-access/express";
      import { FakeGatehouse } from "gatehouse-access/testing";
      const gatehouse: Gatehouse = new FakeGatehouse().client();
      export async function use(): Promise<Customer | undefined> {
        for await (const user of gatehouse.users.list({ status: "active" })) user.email satisfies string | null;
        const page = await gatehouse.customers.list();
        // @ts-expect-error -- there is no such member
        await gatehouse.customers.create({ title: "x" });
        // @ts-expect-error -- there is no such status
        gatehouse.customers.list({ status: "asleep" });
        const code: ErrorCode = "DUPLICATE";
        verifyWebhook({ body: "", headers: {}, secrets: "x" }).data["user"] satisfies unknown;
        void [requireIdentity, ApiError, code];
        return page.data[0];
      }`;
    for (const name of ["use.mts", "use.cts"]) await writeFile(join(project, name), code);
    await symlink(join(ROOT, "node_modules/@types"), join(project, "node_modules/@types"));
    const types = ["--types", "node", "--typeRoots", join(ROOT, "node_modules/@types")];
    const modules = ["--module", "nodenext", "--target", "es2022", "--lib", "es2023,dom"];
    const strict = [
      "--noEmit",
      "--strict",
      "--exactOptionalPropertyTypes",
      "--noUncheckedIndexedAccess",
      "--ignoreConfig",
    ];
    const args = [
      join(ROOT, "node_modules/typescript/bin/tsc6"),
      ...strict,
      ...modules,
      ...types,
      "use.mts",
      "use.cts",
    ];
    assert.equal(await output(process.execPath, args, { cwd: project }), "");
  });

  it("Node.js: who only verifies webhooks bundles no resources", async () => {
    await writeFile(join(project, "hooks.mjs"), 'export { verifyWebhook } from "gatehouse-access";\n');
    const { outputFiles } = await build({
      entryPoints: [join(project, "hooks.mjs")],
      ...{ bundle: true, write: false, platform: "node", format: "esm", treeShaking: true },
    });
    const [bundle] = outputFiles;
    assert.match(bundle!.text, /SIGNATURE_MISMATCH/);
    assert.doesNotMatch(bundle!.text, /customers|Transport|EXPIRED|skip-override/);
  });

  it("Python: the wheel has types, and is Python 3.9", async () => {
    const names = (await readdir(join(site, "gatehouse_access"), { recursive: true })).sort();
    for (const name of ["py.typed", "testing/_data.json", "_sync/client.py", "asgi.py"])
      assert.ok(names.includes(name), name);
    const parse =
      "import ast, sys; [ast.parse(open(name).read(), feature_version=(3, 9)) for name in sys.argv[1:]]";
    const files = names
      .filter((name) => name.endsWith(".py"))
      .map((name) => join(site, "gatehouse_access", name));
    assert.equal(await output("python3", ["-c", parse, ...files], {}), "");
  });

  for (const { program, version, requirements } of PYTHON_RUNTIMES) {
    it(`Python ${version}, ${requirements} packages: pip installs the wheel, and every module is imported from there`, async () => {
      const needed = await pythonPackages(requirements);
      const installed = await installWheel(wheel, program, needed);
      const modules = ["", ".api", ".asgi", ".django", ".errors", ".flask", ".testing", ".webhooks"];
      const imports = modules.map((name) => `import gatehouse_access${name}`);
      const use = [
        "client = gatehouse_access.testing.FakeGatehouse().client()",
        "print(client.customers.create({'name': 'Acme'})['name'])",
        "from importlib.metadata import version",
        "print(version('gatehouse-access'), gatehouse_access.__file__)",
      ];
      const code = [...imports, ...use].join("\n");
      // warnings are of what a later Python no longer has
      const told = await output(installed.python, ["-W", "error", "-c", code], { env: pythonEnvironment() });
      const place = join(installed.site, "gatehouse_access", "__init__.py");
      assert.equal(told, `Acme\n${VERSION} ${place}\n`);
    });
  }

  it("Python: mypy and pyright find nothing in strict mode, in the library", async () => {
    const folders = [site, packages, await pythonPackages("typing")];
    const mypy = ["-m", "mypy", "--strict", "--python-version", "3.9", "--cache-dir", join(project, ".mypy")];
    const told = await output("python3", [...mypy, "-p", "gatehouse_access"], {
      cwd: project,
      env: pythonEnvironment(...folders),
    });
    assert.match(told, /^Success: no issues found in \d+ source files?$/m, told);
    const config = {
      ...{
        include: [join(site, "gatehouse_access")],
        typeCheckingMode: "strict",
        pythonVersion: "3.9",
      },
      extraPaths: [site, packages],
    };
    await writeFile(join(project, "pyrightconfig.json"), JSON.stringify(config));
    const pyright = [join(ROOT, "node_modules/pyright/index.js"), "-p", join(project, "pyrightconfig.json")];
    assert.match(await output(process.execPath, pyright, { cwd: project }), /^0 errors, /m);
  });
});
