import { join } from "node:path";
import { defineConfig } from "vite";

/** What the decision code takes of Node, for the worker that runs it in the page. */
const ofNode = (name: string) => ({
  find: `node:${name}`,
  replacement: join(import.meta.dirname, "src", "core", "platform", `${name}.ts`),
});

/** Built by `build.ts`; served by the control plane, so there is no other configuration. */
export default defineConfig({
  root: import.meta.dirname,
  base: "/",
  publicDir: false,
  resolve: { alias: ["crypto", "net", "url", "buffer"].map(ofNode) },
  worker: { format: "es" },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    target: "es2023",
    // nothing inline: the Content-Security-Policy allows files of this origin only
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
