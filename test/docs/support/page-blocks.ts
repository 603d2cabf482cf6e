import { readFileSync } from "node:fs";

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
  return [...pageText(page).matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = "", text = ""]) => {
    const file = /^(?:#|\/\/) (\S+\.\w+)\n/.exec(text)?.[1];
    return { language, text, ...(file !== undefined && { file }) };
  });
}
