/**
 * What remark-validate-links leaves out: files that HTML names, and the form of links to other hosts, which cannot be asked
 * offline.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Root } from "mdast";
import type { VFile } from "vfile";
import { isRelative, referencesOf, ROOT, targetOf, type Reference } from "../.vitepress/pages.ts";

/** @returns what is wrong with a reference of a page, if anything is */
export function problemOf(page: string, { url }: Pick<Reference, "url">): string | undefined {
  if (isRelative(url)) {
    if (/[<>\s]/.test(url)) return "has a character that a URL cannot have";
    return existsSync(join(ROOT, targetOf(page, url))) ? undefined : "names a file that does not exist";
  }
  if (!URL.canParse(url)) return "is not a valid URL";
  const { protocol, hostname } = new URL(url);
  if (protocol === "mailto:")
    return /^mailto:[^@\s]+@[^@\s]+\.\w+$/.test(url) ? undefined : "is not a valid address";
  // what runs on the reader's own machine
  if (hostname === "localhost" || hostname === "127.0.0.1") return undefined;
  if (protocol !== "https:") return "is not https";
  if (!/\.[a-z]+$/.test(hostname)) return "names a host without a domain";
  return /[.,;:!?]$/.test(url) ? "ends in a punctuation mark" : undefined;
}

/** As a plugin of remark. */
export function references() {
  return (tree: Root, file: VFile): void => {
    for (const reference of referencesOf(String(file), tree)) {
      const problem = problemOf(file.path, reference);
      if (problem === undefined) continue;
      file.message(`\`${reference.url}\` ${problem}`, {
        place: { line: reference.line, column: 1 },
        ruleId: "reference",
      });
    }
  };
}
