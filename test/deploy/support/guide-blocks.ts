import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { guideBlocks, withPlaces } from "../../authorizers/support/guide.ts";

const run = promisify(execFile);

/**
 * The blocks of commands of a page in docs/deployment, in their order.
 *
 * @param count - how many the test runs: a page that has another one fails it
 */
export function commandBlocks(page: string, count: number): readonly string[] {
  const blocks = guideBlocks(page, "sh");
  assert.equal(blocks.length, count, `blocks of commands in ${page}.md`);
  return blocks;
}

/**
 * `npx gatehouse` as a shell function, for a script whose first two parameters are Node.js and the program. The command takes
 * the shell's place unless something follows it, so that who ends the shell ends it.
 */
export const NPX = `npx() {
  [ "$1" = gatehouse ] || return 1
  shift
  exec "\${NODE}" "\${CLI}" "$@"
}
NODE=$1 CLI=$2`;

/**
 * Runs commands of a guide as they are written there, except for places. The requests that it makes with `curl -i` must be
 * answered as the comments say: `# 401`.
 *
 * @param options.prelude - shell functions that stand for programs which are not here
 */
export async function runCommands(
  commands: string,
  options: {
    readonly places?: Readonly<Record<string, string>>;
    readonly prelude?: string;
    readonly cwd: string;
    readonly env?: NodeJS.ProcessEnv;
  },
): Promise<string> {
  const { places = {}, prelude = "", cwd, env = process.env } = options;
  const script = `${prelude}\n${withPlaces(commands, places)}`;
  // with a socket as standard input it would read the files of an interactive shell
  const { stdout } = await run("bash", ["--norc", "-euo", "pipefail", "-c", script], {
    cwd,
    env,
    maxBuffer: 1e8,
  });
  const expected = [...commands.matchAll(/^(?:kubectl exec .* -- )?curl -\w*i.*# (\d{3})\b/gm)].map(
    ([, status]) => status,
  );
  const answered = [...stdout.matchAll(/HTTP\/[\d.]+ (\d{3})/g)].map(([, status]) => status);
  assert.deepEqual(answered, expected, stdout);
  return stdout;
}

/** `kubectl apply` as the shell function `applied`: what is applied must be there; the cluster is not. */
export const APPLIED = `applied() {
  [ "$1" = apply ] || return 1
  shift
  while [ $# -gt 0 ]; do [ "$1" = -f ] && [ -s "$2" ] || return 1; shift 2; done
}`;
