import { join } from "node:path";
import { runCommands } from "../../deploy/support/guide-blocks.ts";
import { ROOT } from "../../support/up.ts";
import { blockWith } from "./page-blocks.ts";

/**
 * Runs the block of shell of a page that has a text, with this checkout's `gatehouse`. Each of its commands may exit with 1, by
 * which it says that it has found something.
 *
 * @param options.functions - more shell functions, for programs that are not here
 */
export function fromPage(
  page: string,
  part: string,
  options: {
    readonly cwd: string;
    readonly functions?: string;
    readonly places?: Readonly<Record<string, string>>;
  },
): Promise<string> {
  const { cwd, functions = "", places = {} } = options;
  const program = `gatehouse() { '${process.execPath}' '${join(ROOT, "bin/gatehouse.js")}' "$@" || test $? = 1; }`;
  return runCommands(blockWith(page, part), { cwd, places, prelude: `${program}\n${functions}` });
}
