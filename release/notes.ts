import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** Where versions are written, and how. */
const VERSIONS: readonly (readonly [file: string, pattern: RegExp])[] = [
  ["package.json", /^ {2}"version": "([^"]+)"/m],
  ["clients/node/package.json", /^ {2}"version": "([^"]+)"/m],
  ["clients/node/src/version.ts", /VERSION = "([^"]+)"/],
  ["clients/python/pyproject.toml", /^version = "([^"]+)"/m],
  ["clients/python/src/gatehouse_access/_version.py", /^VERSION = "([^"]+)"/m],
  ["deploy/helm/gatehouse/Chart.yaml", /^version: (\S+)$/m],
  ["deploy/helm/gatehouse/Chart.yaml", /^appVersion: (\S+)$/m],
  ["deploy/docker/compose.yaml", /image: gatehouse:(\S+)/],
  ["deploy/docker/compose.yaml", /image: gatehouse-gateway:(\S+)/],
];

/**
 * The one version of everything that is released together.
 *
 * @throws Error that names the files which differ
 */
export async function releasedVersion(folder: string): Promise<string> {
  const found = await Promise.all(
    VERSIONS.map(async ([file, pattern]) => {
      const version = pattern.exec(await readFile(join(folder, file), "utf8"))?.[1];
      if (version === undefined) throw new Error(`${file} has no version`);
      return { file, version };
    }),
  );
  const [first] = found;
  if (first === undefined || found.some(({ version }) => version !== first.version))
    throw new Error(
      `the versions differ: ${found.map(({ file, version }) => `${file} ${version}`).join(", ")}`,
    );
  return first.version;
}

/**
 * The changelog's section of a version. A build that is not tagged has what is not released yet.
 *
 * @param tag - the release's tag, if it has one: `v` and the version
 * @throws Error if the tag is for another version, or the changelog has no section for it
 */
export async function releaseNotes(
  folder: string,
  version: string,
  tag: string | undefined,
): Promise<string> {
  if (tag !== undefined && tag !== `v${version}`)
    throw new Error(`the tag is ${tag}, and the version is ${version}`);
  const wanted = tag === undefined ? "Unreleased" : version;
  const [, ...sections] = (await readFile(join(folder, "CHANGELOG.md"), "utf8")).split(/^## /m);
  // `## 0.2.0` or `## 0.2.0 - 2027-01-31`
  const section = sections.find((text) => text.split(/\s/, 1)[0] === wanted);
  if (section === undefined) throw new Error(`CHANGELOG.md has no section ${wanted}`);
  const [, body = ""] = /^[^\n]*\n+([^]*)$/.exec(section) ?? [];
  return `# Gatehouse ${version}\n\n${body.trimEnd()}\n`;
}
