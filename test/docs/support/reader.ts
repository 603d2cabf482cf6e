import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { withPlaces } from "../../authorizers/support/guide.ts";
import { runCommands } from "../../deploy/support/guide-blocks.ts";
import { Processes } from "../../deploy/support/processes.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

/** Shell functions that stand for programs; none where the programs themselves are tried. */
export interface StandIns {
  /** Before commands that stay: they may take the shell's place. */
  readonly staying?: string;
  /** Before the others. */
  readonly others?: string;
  /** `$1` and further of both. */
  readonly parameters?: readonly string[];
}

/** Somebody who follows a page: what stays has a terminal of its own, the other commands share one. */
export class Reader {
  /** What the page has, and what is used in its place: addresses that may be taken on this machine. */
  readonly places: Record<string, string> = {};
  readonly folder: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #standIns: StandIns;
  readonly #processes = new Processes();
  #file: string | undefined;

  constructor(folder: string, env: NodeJS.ProcessEnv, standIns: StandIns = {}) {
    this.folder = folder;
    this.#env = env;
    this.#standIns = standIns;
  }

  /** The text of a block with those places that it has. */
  placed(text: string): string {
    const used = Object.entries(this.places).filter(([written]) => text.includes(written));
    return withPlaces(text, Object.fromEntries(used));
  }

  /** Saves a block as a file, in a folder that is there. */
  async save(file: string, text: string): Promise<void> {
    await writeFile(join(this.folder, file), this.placed(text));
  }

  /** Starts a command that stays, in a terminal of its own, and waits until it is ready. */
  async start(
    commands: string,
    isReady: (printed: string) => unknown,
    { boundMs = 400_000, env = {} }: { readonly boundMs?: number; readonly env?: NodeJS.ProcessEnv } = {},
  ): Promise<void> {
    const { staying = "", parameters = [] } = this.#standIns;
    const words = ["--norc", "-euo", "pipefail", "-c", `${staying}\n${this.placed(commands)}`, "bash"];
    await this.#processes.start(
      "bash",
      [...words, ...parameters],
      { cwd: this.folder, env: { ...this.#env, ...env }, detached: true },
      isReady,
      boundMs,
    );
  }

  /**
   * Runs other commands. Requests must be answered as the comments say: `# 401` (of `curl -i`), `# ... "tax_id":"***" ...`.
   *
   * @returns what they print
   */
  async run(commands: string): Promise<string> {
    const { others = "", parameters = [] } = this.#standIns;
    const file = await this.#variablesFile();
    const names = [...commands.matchAll(/^([A-Z]+)=/gm)].map(([, name]) => name).join(" ");
    const keep = names === "" ? "" : `\ndeclare -p ${names} >> '${file}'\n`;
    const set = parameters.length === 0 ? "" : `set -- ${parameters.map((one) => `'${one}'`).join(" ")}`;
    const printed = await runCommands(`${this.placed(commands)}${keep}`, {
      cwd: this.folder,
      env: this.#env,
      prelude: [set, others, `. '${file}'`].join("\n"),
    });
    for (const [, part = ""] of commands.matchAll(/ # \.\.\. (.+) \.\.\.$/gm))
      assert.ok(printed.includes(part), `${commands}\n${printed}`);
    return printed;
  }

  /** Ctrl-C in every terminal, the last one first. */
  async stop(): Promise<void> {
    await this.#processes.stop();
  }

  /** Where what the shell keeps from one block to the next is. */
  async #variablesFile(): Promise<string> {
    if (this.#file === undefined) {
      this.#file = join(await temporaryDirectory(), "variables.sh");
      await writeFile(this.#file, "");
    }
    return this.#file;
  }
}
