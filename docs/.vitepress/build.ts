/**
 * Builds the documentation as a static site: `node docs/.vitepress/build.ts [--out site] [--base /]`. It needs no server but one
 * for files, and loads nothing from other hosts.
 */
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { build } from "vitepress";
import { ROOT } from "./pages.ts";
import { stage } from "./stage.ts";

const { values } = parseArgs({
  options: {
    out: { type: "string", default: join(ROOT, "site") },
    /** The path of the site on its host. */
    base: { type: "string", default: "/" },
  },
});

const pages = join(ROOT, ".gatehouse/docs-pages");
stage(pages);
await build(join(ROOT, "docs"), { outDir: resolve(values.out), base: values.base });
