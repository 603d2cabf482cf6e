#!/usr/bin/env node
// Plain JavaScript, so that an old Node.js prints a clear error instead of failing on the first line of TypeScript.
import { existsSync } from "node:fs";

const NEEDED = 24;
const major = Number(process.versions.node.split(".")[0]);
if (major < NEEDED) {
  process.stderr.write(
    `gatehouse needs Node.js ${NEEDED} or newer, but this is ${process.versions.node}.\n` +
      "In a checkout, run `make install`, then `npx gatehouse`; elsewhere install Node.js 24.\n",
  );
  process.exit(2);
}

// A checkout runs from source with type stripping; the published package contains compiled files.
const source = new URL("../src/cli/main.ts", import.meta.url);
const entry = existsSync(source) ? source : new URL("../dist/cli/main.js", import.meta.url);
const { main } = await import(entry.href);
// set by npm and npx for the commands they start
await main(process.argv, process.env.npm_lifecycle_event !== undefined);
