import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { errorCode } from "../../runtime/error-code.ts";

/** A file whose name contains a hash of its content. */
export interface Asset {
  readonly type: string;
  readonly body: Buffer;
  readonly gzipped: Buffer;
}

/** The built dashboard. */
export interface DashboardFiles {
  readonly index: string;
  readonly assets: ReadonlyMap<string, Asset>;
}

/** The folder of the build: the same from `src/` and from `dist/`. */
const BUILT = fileURLToPath(new URL("../../../dashboard/dist/", import.meta.url));

const TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};

/** Reads the built dashboard. @returns `undefined` if it is not built */
export function readDashboardFiles(folder: string = BUILT): DashboardFiles | undefined {
  let index: string;
  try {
    index = readFileSync(join(folder, "index.html"), "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
  const assets = new Map<string, Asset>();
  for (const name of readdirSync(join(folder, "assets"))) {
    const type = TYPES[name.split(".").at(-1) ?? ""];
    if (type === undefined) throw new Error(`the dashboard's build contains a file of unknown type: ${name}`);
    const body = readFileSync(join(folder, "assets", name));
    assets.set(name, { type, body, gzipped: gzipSync(body, { level: 9 }) });
  }
  return { index, assets };
}
