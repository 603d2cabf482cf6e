import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { textOf } from "../../../docs/.vitepress/pages.ts";

/** A fenced block of a Markdown page. */
export interface PageBlock {
  readonly language: string;
  readonly text: string;
  /** The file that its first line names: `# tutorial/gateway.yaml`. */
  readonly file?: string;
}

export function pageText(page: string): string {
  return readFileSync(new URL(`../../../docs/${page}`, import.meta.url), "utf8");
}

/**
 * The fenced blocks of a page, in their order.
 *
 * @param page - below `docs`
 */
export function pageBlocks(page: string): readonly PageBlock[] {
  return blocksIn(pageText(page));
}

/** The fenced blocks of a page's text, in their order. */
export function blocksIn(page: string): readonly PageBlock[] {
  return [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = "", text = ""]) => {
    const file = /^(?:#|\/\/) (\S+\.\w+)\n/.exec(text)?.[1];
    return { language, text, ...(file !== undefined && { file }) };
  });
}

/**
 * The block of a page that has a text, of which there is one.
 *
 * @param page - below the root of the project
 */
export function blockWith(page: string, part: string, language = "sh"): string {
  const [found, ...more] = blocksIn(textOf(page)).filter(
    (block) => block.language === language && block.text.includes(part),
  );
  assert.ok(found !== undefined && more.length === 0, `${page} has one block with ${part}`);
  return found.text;
}
