import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { writeArchive } from "./archive.ts";
import { releasedVersion, releaseNotes } from "./notes.ts";
import { buildPython, packNpm } from "./packages.ts";
import { exportSource, ROOT, writeSums, type Source } from "./source.ts";

/**
 * Makes everything that is released from the last commit. The bytes depend on the commit and the installed tools alone.
 *
 * @param out - a folder, whose content is replaced
 * @param tag - of the release: the version and the changelog must agree
 * @returns the version
 */
export async function makeRelease(out: string, tag?: string): Promise<string> {
  // modes of files are part of some archives
  process.umask(0o022);
  const work = await mkdtemp(join(tmpdir(), "gatehouse-release-"));
  try {
    const source = await exportSource(join(work, "source"));
    const version = await releasedVersion(source.folder);
    const notes = await releaseNotes(source.folder, version, tag);
    await rm(out, { recursive: true, force: true });
    await mkdir(out, { recursive: true });
    await packNpm(source, out);
    await buildPython(source, out);
    await packChart(source, version, out);
    await packImages(source, version, out);
    await writeFile(join(out, "RELEASE_NOTES.md"), notes);
    const names = await readdir(out);
    const sums = await Promise.all(
      names.map(async (name) => [name, sha256(await readFile(join(out, name)))] as const),
    );
    await writeSums(out, new Map(sums));
    return version;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/**
 * The chart as an archive, as `helm package` makes it, but for the times: Helm writes the present one.
 */
export async function packChart(source: Source, version: string, out: string): Promise<void> {
  const { folder, time } = source;
  const chart = "deploy/helm/gatehouse";
  const files = (await source.list(chart)).map((name) => name.slice(chart.length + 1));
  await writeArchive(join(out, `gatehouse-chart-${version}.tgz`), {
    ...{ folder: join(folder, chart), time, prefix: "gatehouse" },
    files: files.filter((name) => name !== ".helmignore"),
  });
}

/** The folder that images are built in, and `compose.yaml` with what it mounts: what git knows of the builder's list. */
async function packImages(source: Source, version: string, out: string): Promise<void> {
  const { folder, time } = source;
  const ignore = await readFile(join(folder, "deploy/docker/Dockerfile.dockerignore"), "utf8");
  const sent = [...ignore.matchAll(/^!(.+)$/gm)].map(([, path = ""]) => path);
  const prefix = `gatehouse-images-${version}`;
  await writeArchive(join(out, `${prefix}.tar.gz`), {
    ...{ folder, time, prefix },
    files: [...new Set(await source.list(...sent, "deploy/docker", "docs/deployment/docker.md"))],
  });
}

function sha256(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}

if (process.argv[1] === import.meta.filename) {
  const { values } = parseArgs({ options: { out: { type: "string" }, tag: { type: "string" } } });
  const out = resolve(values.out ?? join(ROOT, "dist/release"));
  const version = await makeRelease(out, values.tag);
  process.stdout.write(`Gatehouse ${version} in ${out}\n`);
  process.stdout.write(await readFile(join(out, "SHA256SUMS"), "utf8"));
}
