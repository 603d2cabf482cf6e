/** What our prose does not say, and what it says instead. Only text is looked at: code, addresses and quotations of it are not. */
import type { Root } from "mdast";
import { toString } from "mdast-util-to-string";
import { visit } from "unist-util-visit";
import type { VFile } from "vfile";

export interface Phrase {
  readonly pattern: RegExp;
  readonly advice: string;
}

/** A word stands alone: `standing` is not a part of `outstanding`, and `so long` is not one of `so long as`. */
const words = (alternatives: string, advice: string): Phrase => ({
  pattern: new RegExp(`(?<![\\w-])(?:${alternatives})(?![\\w-])`, "gi"),
  advice,
});

export const PHRASES: readonly Phrase[] = [
  words("anew", "write again"),
  words("whoever", "write anyone who, or who it is"),
  words("so long(?! as)", "write until then"),
  words("(?:it|that|this|which|all|sum) comes to", "write results in, or is"),
  words("stands? at", "write is at"),
  words("stands? (?:twice|here|there)", "write is"),
  words("standings?", "write state"),
  words("(?:is|are) no (?:address|name|field name|number|tunnel)", "write is not a valid ..."),
  words("its ETag is another one", "write the resource has changed"),
  words("rejudges?|rejudged", "write evaluates again"),
  words("tak(?:e|es|ing)-in", "write ingestion"),
  words("upkeep", "write maintenance"),
  // rates
  words(
    "(?:times|requests|events|records|bytes|rows|messages|checks|MB|kB) an? (?:second|minute|hour|day)",
    "write per",
  ),
  // what is easy for the writer may not be so for the reader
  words("simply|easy|easily|obviously|of course|basically|trivial(?:ly)?|needless to say", "leave it out"),
  words("just(?! (?:after|as|before|being|like|now|sent))", "write only, or leave it out"),
  words("utili[sz]es?|in order to|prior to|due to the fact that", "write use, to, before, because"),
];

/** A place of the text that has one. */
export interface Found {
  readonly text: string;
  readonly advice: string;
  readonly line: number;
}

/** Every one of the phrases in the text of a page. */
export function phrasesIn(tree: Root): readonly Found[] {
  const found: Found[] = [];
  visit(tree, (node) => {
    if (node.type !== "paragraph" && node.type !== "heading" && node.type !== "tableCell") return;
    const children = node.children.map((child) =>
      // as long as it was, so that nothing is joined
      child.type === "inlineCode" || child.type === "html" ? "`" : toString(child),
    );
    const text = children.join("").replaceAll("\n", " ");
    for (const { pattern, advice } of PHRASES)
      for (const { 0: match } of text.matchAll(pattern))
        found.push({ text: match, advice, line: node.position?.start.line ?? 0 });
  });
  return found;
}

/** As a plugin of remark. */
export function forbiddenPhrases() {
  return (tree: Root, file: VFile): void => {
    for (const { text, advice, line } of phrasesIn(tree))
      file.message(`\`${text}\`: ${advice}`, { place: { line, column: 1 }, ruleId: "phrase" });
  };
}
