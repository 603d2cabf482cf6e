import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { releasedVersion, releaseNotes } from "../../release/notes.ts";
import { ROOT } from "../../release/source.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const FILES = [
  "package.json",
  "clients/node/package.json",
  "clients/node/src/version.ts",
  "clients/python/pyproject.toml",
  "clients/python/src/gatehouse_access/_version.py",
  "deploy/helm/gatehouse/Chart.yaml",
  "deploy/docker/compose.yaml",
];

describe("release: version and notes", () => {
  it("the files of this checkout have one version", async () => {
    const { version } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as { version: string };
    assert.equal(await releasedVersion(ROOT), version);
  });

  for (const changed of FILES)
    it(`says so if ${changed} has another`, async () => {
      const folder = await temporaryDirectory();
      for (const file of FILES) {
        const text = await readFile(join(ROOT, file), "utf8");
        await mkdir(join(folder, dirname(file)), { recursive: true });
        await writeFile(join(folder, file), file === changed ? text.replace("0.1.0", "0.0.9") : text);
      }
      await assert.rejects(releasedVersion(folder), /^Error: the versions differ: .*0\.0\.9/);
    });

  it("a release has its section of the changelog, and other builds what is not released", async () => {
    const folder = await temporaryDirectory();
    const changelog = [
      "# Changelog\n\nAll changes.\n",
      "## Unreleased\n\n### Added\n\n- new\n",
      "## 1.2.0 - 2027-01-31\n\n### Fixed\n\n- old\n",
      "## 1.2.0-rc.1\n\n- early\n",
    ].join("\n");
    await writeFile(join(folder, "CHANGELOG.md"), changelog);
    const notes = (tag?: string) => releaseNotes(folder, "1.2.0", tag);
    assert.equal(await notes("v1.2.0"), "# Gatehouse 1.2.0\n\n### Fixed\n\n- old\n");
    assert.equal(await notes(), "# Gatehouse 1.2.0\n\n### Added\n\n- new\n");
    await assert.rejects(notes("v1.3.0"), /the tag is v1\.3\.0, and the version is 1\.2\.0/);
    await assert.rejects(releaseNotes(folder, "1.3.0", "v1.3.0"), /CHANGELOG\.md has no section 1\.3\.0/);
  });

  it("the changelog of this checkout has what is not released", async () => {
    assert.match(await releaseNotes(ROOT, "0.0.0", undefined), /^# Gatehouse 0\.0\.0\n\n### Added\n\n- /);
  });
});
