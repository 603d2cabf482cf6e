import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { eventually } from "../../support/eventually.ts";
import { blocksIn, type PageBlock } from "./page-blocks.ts";
import type { Reader } from "./reader.ts";

/** What appears when the README says to go on. */
const READY = "gatehouse gateway ready";

/**
 * Follows README.md in its checkout to the records of a denied and an allowed request. `make run` stays.
 *
 * @param text - of the page
 * @param options.firstMs - how long `make run` may take
 */
export async function followReadme(
  reader: Reader,
  text: string,
  options: { readonly firstMs?: number; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<void> {
  const { firstMs: boundMs = 400_000, env = {} } = options;
  const blocks = new Blocks(text);
  assert.match(blocks.next("sh"), /^git clone /);
  const start = blocks.next("sh");
  assert.equal(start, "make run\n");
  assert.ok(text.includes(`When \`${READY}\` appears`));
  await reader.start(start, (printed) => printed.includes(READY), { boundMs, env });
  // the first denied request needs nothing else: neither a command nor a wait
  const denied = blocks.next("sh");
  assert.match(denied, /^curl -i \S+ +# 401\b.*\n$/);
  await reader.run(denied);

  const allowed = blocks.next("sh");
  const records = `${allowed.trimEnd().split("\n").at(-1) ?? ""}\n`;
  let printed = await reader.run(allowed);
  await eventually("the records of two requests", async () => {
    const { data } = JSON.parse(printed.slice(printed.lastIndexOf('{"success"'))) as {
      readonly data: readonly Readonly<Record<"decision" | "reason", string>>[];
    };
    const decisions = data.map(({ decision, reason }) => `${decision}: ${reason}`).sort();
    if (/^ALLOW: \w+\nDENY: \w+$/.test(decisions.join("\n"))) return true;
    printed = await reader.run(records);
    return false;
  });
  assert.match(await reader.run(said(text, "make help")), /^ {2}make run /m);
  blocks.assertNoMore();
}

/**
 * Follows docs/first-rule.md to its end, while `make run` is running in the reader's folder.
 *
 * @param text - of the page
 */
export async function followFirstRule(reader: Reader, text: string): Promise<void> {
  const blocks = new Blocks(text);
  const file = join(reader.folder, "policies/default.yaml");
  const change = async (edit: (policies: string) => string) => {
    const policies = await readFile(file, "utf8");
    const changed = edit(policies);
    assert.notEqual(changed, policies);
    await writeFile(file, changed);
  };

  const rule = blocks.next("yaml");
  await change((policies) => policies.replace(/^# --- The web pages/m, `${rule}\n$&`));
  const explained = await reader.run(blocks.next("sh"));
  assert.match(explained, /^DENY \(403\) CONDITION_FALSE.*^ +user\.department is "sales"$/ms);
  assert.ok(text.includes("`DENY (403) CONDITION_FALSE`"));
  const finance = blocks.next("sh");
  const csv = await eventually("the rule is in force", () => reader.run(finance));
  assert.match(csv, /^content-type: text\/csv/im);

  const filter = blocks.next("yaml");
  await change((policies) => policies.replace(/^response_filters:\n/m, `$&${filter}`));
  const masked = blocks.next("sh");
  assert.match(masked, / # \.\.\. "tax_id"/);
  await eventually("the filter is in force", () => reader.run(masked));
  assert.equal(bodyOf(await reader.run(finance)), bodyOf(csv));

  // an error
  await change((policies) =>
    policies.replace('user.department == "finance" and', (part) => part.replace("==", "=")),
  );
  await assert.rejects(reader.run(blocks.next("sh")), ({ stdout = "" }: { stdout?: string }) => {
    assert.match(stdout, /default\.yaml:\d+:\d+.*`==`/s);
    return true;
  });
  await change((policies) =>
    policies.replace('user.department = "finance" and', (part) => part.replace("=", "==")),
  );
  assert.match(
    await reader.run(said(text, "npx gatehouse policy test")),
    /only-finance-exports.*never reached|never reached.*only-finance-exports/s,
  );
  assert.match(await reader.run(said(text, "npx gatehouse policy coverage")), /\S/);

  await reader.run(blocks.next("sh"));
  blocks.assertNoMore();
}

/** The blocks of a page, each taken once, in their order. */
class Blocks {
  readonly #left: PageBlock[];

  constructor(text: string) {
    this.#left = [...blocksIn(text)];
  }

  /** The text of the next block, which must be in that language. */
  next(language: string): string {
    const block = this.#left.shift();
    assert.equal(block?.language, language, block?.text);
    return block.text;
  }

  assertNoMore(): void {
    assert.deepEqual(this.#left, [], "every block is tried");
  }
}

/** A command in a sentence of the page. */
function said(text: string, command: string): string {
  assert.ok(text.replaceAll(/\s+/g, " ").includes(`\`${command}\``), command);
  return `${command}\n`;
}

/** What `curl -i` prints after the headers. */
function bodyOf(printed: string): string {
  return printed.slice(printed.indexOf("\r\n\r\n"));
}
