// Fails unless every statement of the pure rooms was run. Reads what c8 has written: to work it out again takes it ten seconds.
import { readFileSync } from "node:fs";
import { relative } from "node:path";

const ROOMS = /^src\/(?:json|text|policy|request)\//;
/** They hold nothing but types, and so are never loaded. */
const TYPES_ONLY = new Set([
  "src/json/deep-readonly.ts",
  "src/policy/diagnostic.ts",
  "src/policy/check/policy-set-check.ts",
  "src/policy/condition/ast.ts",
  "src/policy/read/policy-source.ts",
  "src/policy/syntax/tree.ts",
]);

const summary = JSON.parse(readFileSync("coverage/coverage-summary.json", "utf8")) as Readonly<
  Record<string, { readonly statements: { readonly total: number; readonly covered: number } }>
>;
const files = Object.entries(summary)
  .map(([file, { statements }]) => ({ file: relative(".", file), ...statements }))
  .filter(({ file }) => ROOMS.test(file) && !TYPES_ONLY.has(file));
const lacking = files.filter(({ total, covered }) => covered < total);
for (const { file, total, covered } of lacking)
  process.stderr.write(`ERROR: ${file}: ${total - covered} of ${total} statements were not run\n`);
if (files.length === 0)
  process.stderr.write("ERROR: coverage/coverage-summary.json has no file of the pure rooms\n");
if (files.length === 0 || lacking.length > 0) process.exitCode = 1;
