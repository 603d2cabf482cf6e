import { globSync, readFileSync } from "node:fs";
import { dirname, posix } from "node:path";
import { fileURLToPath } from "node:url";
import type { Definition, Heading, Html, Image, Link, Paragraph, PhrasingContent, Root } from "mdast";
import { toString } from "mdast-util-to-string";
import remarkGfm from "remark-gfm";
import remarkParse from "remark-parse";
import { unified } from "unified";
import { visit } from "unist-util-visit";

/** The folder of the checkout. */
export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Folders that hold nothing written by hand. */
const GENERATED = /^(?:node_modules|dist|site|coverage)$|^\./;

/** Every Markdown page of the project, by its path from the root. */
export function allPages(root: string = ROOT): readonly string[] {
  return globSync("**/*.md", { cwd: root, exclude: (name) => GENERATED.test(posix.basename(name)) })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => !path.split("/").some((part) => GENERATED.test(part)))
    .sort();
}

/** @returns the page's text */
export function textOf(page: string): string {
  return readFileSync(posix.join(ROOT, page), "utf8");
}

/** Parses Markdown as GitHub does. */
export function parse(text: string): Root {
  return unified().use(remarkParse).use(remarkGfm).parse(text);
}

const trees = new Map<string, Root>();

/** The page, parsed once. Nobody may change it. */
export function treeOf(page: string): Root {
  const tree = trees.get(page) ?? parse(textOf(page));
  trees.set(page, tree);
  return tree;
}

/** A place in a page that names another file. */
export interface Reference {
  readonly url: string;
  readonly line: number;
  /** Whether the browser loads it with the page. */
  readonly embedded: boolean;
  /** Where `url` is in the page's text. */
  readonly start: number;
}

/** `src` and `href` in HTML, and each image of a `srcset`. */
const HTML_REFERENCE = /\b(src|srcset|href)="([^"]*)"/g;

/** Every link and image of a page, those in HTML included. */
export function referencesOf(text: string, tree: Root = parse(text)): readonly Reference[] {
  const found: Reference[] = [];
  const add = (node: Definition | Link | Image) => {
    const { start, end } = node.position ?? {};
    if (start?.offset === undefined || end?.offset === undefined) return;
    // an address that is written as text is a link as well, and has no text of its own
    const at = text.lastIndexOf(node.url, end.offset);
    if (at < start.offset) return;
    found.push({ url: node.url, line: start.line, embedded: node.type === "image", start: at });
  };
  visit(tree, (node) => {
    if (node.type === "link" || node.type === "image" || node.type === "definition") add(node);
    if (node.type === "html") found.push(...referencesOfHtml(node));
  });
  return found;
}

function referencesOfHtml({ value, position }: Html): readonly Reference[] {
  const [offset, line] = [position?.start.offset ?? 0, position?.start.line ?? 0];
  return [...value.matchAll(HTML_REFERENCE)].flatMap((match) => {
    const [, attribute = "", list = ""] = match;
    const from = match.index + match[0].indexOf('"') + 1;
    return [...list.matchAll(attribute === "srcset" ? /[^\s,]+(?=[^,]*(?:,|$))/g : /.+/g)]
      .filter((one) => attribute !== "srcset" || !/^\d+(?:\.\d+)?[wx]$/.test(one[0]))
      .map((one) => ({
        url: one[0],
        line: line + value.slice(0, match.index).split("\n").length - 1,
        embedded: attribute !== "href",
        start: offset + from + one.index,
      }));
  });
}

/** Whether it names a file of this project, or a place in this page. */
export function isRelative(url: string): boolean {
  return !/^[a-z][a-z0-9+.-]*:|^\/\//i.test(url);
}

/** @returns the path of the file that a relative reference of a page names, from the root; without a `/` at its end */
export function targetOf(page: string, url: string): string {
  const path = decodeURI(url.replace(/[?#].*$/s, ""));
  return path === "" ? page : posix.join(posix.dirname(page), path).replace(/\/$/, "");
}

/** @returns the page's first heading, as text */
export function titleOf(page: string, tree: Root = treeOf(page)): string {
  const heading = tree.children.find((node): node is Heading => node.type === "heading" && node.depth === 1);
  if (heading === undefined) throw new Error(`${page} has no title`);
  return toString(heading);
}

/** @returns the first sentence of the page's text, if it has any before its second heading */
export function summaryOf(tree: Root): string | undefined {
  const title = tree.children.findIndex((node) => node.type === "heading");
  const section = tree.children.slice(title + 1);
  const next = section.findIndex((node) => node.type === "heading");
  const first = (next < 0 ? section : section.slice(0, next)).find(
    (node): node is Paragraph => node.type === "paragraph",
  );
  if (first === undefined) return undefined;
  const text = first.children.map(plainText).join("").replaceAll(/\s+/g, " ").trim();
  const sentence = /^.+?(?<!\b(?:e\.g|i\.e))[.?:](?=\s|$)/.exec(text)?.[0] ?? text;
  return sentence.replace(/:$/, ".");
}

/** Text without links and emphasis, but with the marks of code. */
function plainText(node: PhrasingContent): string {
  if (node.type === "inlineCode") return `\`${node.value}\``;
  if ("children" in node) return node.children.map(plainText).join("");
  return node.type === "text" ? node.value : "";
}
