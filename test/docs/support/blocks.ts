import type { Code } from "mdast";
import { visit } from "unist-util-visit";
import { allPages, treeOf } from "../../../docs/.vitepress/pages.ts";

/** A fenced block of a page. */
export interface Block {
  readonly page: string;
  /** The line that opens it. */
  readonly line: number;
  /** The word after the fence; empty if there is none. */
  readonly language: string;
  readonly text: string;
}

/** Pages that nobody follows step by step: what was decided or changed then is not what holds now. */
const OF_THEIR_TIME = /^(?:docs\/decisions\/|CHANGELOG\.md$)/;

/** The pages whose blocks must be right. */
export const CHECKED_PAGES: readonly string[] = allPages().filter((page) => !OF_THEIR_TIME.test(page));

/** Every block of those pages, those within lists included. */
export function allBlocks(): readonly Block[] {
  return CHECKED_PAGES.flatMap((page) => {
    const found: Block[] = [];
    visit(treeOf(page), "code", ({ lang, value, position }: Code) => {
      found.push({ page, line: position?.start.line ?? 0, language: lang ?? "", text: `${value}\n` });
    });
    return found;
  });
}

/** Where a block is, for messages. */
export function placeOf({ page, line }: Block): string {
  return `${page}:${line}`;
}
