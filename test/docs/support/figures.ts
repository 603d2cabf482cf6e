/**
 * Figures that were measured, in the text of pages. A paragraph that has some says beside them where they are from, in a comment
 * that readers do not see:
 *
 * - `<!-- bench: aws-lambda [what=a folder, rules=20] first_answer_ms < 250 -->`: rows of `bench/results.json`, and what holds for
 *   each of them; without a condition in brackets, for all rows of the part. `= 241` is a figure that the paragraph has.
 * - `<!-- measured 2026-11-27: how -->`: measured once, and kept because it explains something.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { toString } from "mdast-util-to-string";
import { visit } from "unist-util-visit";
import { ROOT, treeOf } from "../../../docs/.vitepress/pages.ts";

type Row = Readonly<Record<string, unknown>>;
export type Results = Readonly<Record<string, readonly Row[] | object>>;

export const RESULTS = JSON.parse(readFileSync(join(ROOT, "bench/results.json"), "utf8")) as Results;

const ABOUT_MEASURING =
  /\b(?:measured|bench|medians?|p50|p95|p99|goodput|took|takes the|(?:two|three|five|eight|ten) runs)\b/i;
const FIGURE =
  /\d\s?(?:ms|µs|us|s|KB|MB|GB|kB|MiB|%|percent)(?![\w/])|\d\.\d+ to \d|\b(?:a quarter of|half|less than) a second|\b(?:is|was|came to) \d\.\d\d/;

/** How fast something is, whatever else the sentence says. */
const SPEED = [
  /\b(?:within|in under|in less than) (?:about )?(?:a|half a|a quarter of a) second\b|\bhalf a second\b/i,
  // limits are smaller, or have no thousands
  /\b\d{1,3},\d{3} (?:\w+ ){0,3}per second\b/i,
];

export interface Paragraph {
  readonly page: string;
  readonly line: number;
  readonly text: string;
  /** What the comments in it say. */
  readonly comments: readonly string[];
  /** Whether it leads to the measurements. */
  readonly linksToBench: boolean;
}

/** The paragraphs of a page, and the rows of its tables. */
export function paragraphsOf(page: string): readonly Paragraph[] {
  const found: Paragraph[] = [];
  visit(treeOf(page), ["paragraph", "tableRow"], (node) => {
    const comments: string[] = [];
    visit(node, "html", ({ value }) => {
      const [, comment] = /^<!--\s*([^]*?)\s*-->$/.exec(value) ?? [];
      if (comment !== undefined) comments.push(comment.replaceAll(/\s+/g, " "));
    });
    let linksToBench = false;
    visit(node, "link", ({ url }) => {
      linksToBench ||= /\bbench\/(?:README\.md|results\.json)/.test(url);
    });
    const parts = node.type === "tableRow" ? node.children : [node];
    const text = parts
      .map((part) => toString(part, { includeHtml: false }))
      .join(" | ")
      .replaceAll(/\s+/g, " ");
    found.push({ page, line: node.position?.start.line ?? 0, text, comments, linksToBench });
  });
  return found;
}

/** Whether a paragraph tells of something that was measured. */
export function tellsFigures({
  page,
  text,
  linksToBench,
}: Pick<Paragraph, "page" | "text" | "linksToBench">): boolean {
  const speed = page.startsWith("bench/") ? [] : SPEED;
  return text
    .split(/(?<=[a-z)]\.) /)
    .some(
      (sentence) =>
        speed.some((pattern) => pattern.test(sentence)) ||
        (FIGURE.test(sentence) && (linksToBench || ABOUT_MEASURING.test(sentence))),
    );
}

const CLAIM = /^([\w-]+)(?: \[([^\]]*)\])? (\w+) (?:([<>=]) ([\d.,]+)|in ([\d.,]+)\.\.([\d.,]+))$/;

/** @returns what is wrong with a comment, if it is about a figure */
export function problemsOfComment(
  comment: string,
  text: string,
  results: Results = RESULTS,
): readonly string[] {
  if (/^measured\b/.test(comment))
    return /^measured 20\d\d-\d\d-\d\d: \S/.test(comment)
      ? []
      : ["says neither when nor how it was measured"];
  if (!comment.startsWith("bench: ")) return [];
  return comment
    .slice("bench: ".length)
    .split("; ")
    .flatMap((claim) => problemsOfClaim(claim, text, results));
}

function problemsOfClaim(claim: string, text: string, results: Results): readonly string[] {
  const [, part = "", where = "", column = "", sign, bound = "", low = "", high = ""] =
    CLAIM.exec(claim) ?? [];
  if (part === "") return [`\`${claim}\` cannot be read`];
  const rows = results[part];
  if (!Array.isArray(rows)) return [`bench/results.json has no part \`${part}\``];
  const conditions = where
    .split(/, (?=\w+=)/)
    .filter((one) => one !== "")
    .map((one) => one.split(/=(.*)/));
  const chosen = (rows as readonly Row[]).filter((row) =>
    conditions.every(([key = "", value]) => String(row[key]) === value),
  );
  if (chosen.length === 0) return [`\`${part}\` has no row with ${where}`];
  return chosen.flatMap((row) => {
    const value = row[column];
    if (typeof value !== "number") return [`a row of \`${part}\` has no number \`${column}\``];
    const holds = {
      "<": () => value < numberIn(bound),
      ">": () => value > numberIn(bound),
      "=": () => rounded(value, bound) === numberIn(bound) && text.includes(bound),
      in: () => value >= numberIn(low) && value <= numberIn(high),
    }[sign ?? "in"];
    return holds?.() === true ? [] : [`\`${claim}\` does not hold: it is ${String(value)}`];
  });
}

function numberIn(text: string): number {
  return Number(text.replaceAll(",", ""));
}

/** As precisely as the figure is written. */
function rounded(value: number, written: string): number {
  const [, decimals = ""] = written.split(".");
  if (decimals !== "") return Number(value.toFixed(decimals.length));
  const zeros = /0*$/.exec(written.replaceAll(",", ""))?.[0].length ?? 0;
  return Math.round(value / 10 ** zeros) * 10 ** zeros;
}
