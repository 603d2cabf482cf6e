/** llms.txt, the list of pages for language models: https://llmstxt.org */
import { summaryOf, titleOf, treeOf } from "./pages.ts";
import { sections } from "./sections.ts";

/** @returns the text of `llms.txt`, whose links are right beside the README in the repository, and at the root of the site */
export function llmsText(): string {
  const summary = summaryOf(treeOf("README.md"));
  if (summary === undefined) throw new Error("README.md does not begin with a sentence");
  const all = sections();
  const part = (title: string, pages: readonly string[]) => `## ${title}\n\n${pages.map(line).join("\n")}\n`;
  const optional = all.filter((section) => section.optional).flatMap(({ pages }) => pages);
  return [
    `# Gatehouse\n\n> ${summary}\n`,
    ...all.filter((section) => !section.optional).map(({ title, pages }) => part(title, pages)),
    // programs may leave out what stands under this title
    part("Optional", optional),
  ].join("\n");
}

function line(page: string): string {
  const tree = treeOf(page);
  const summary = summaryOf(tree);
  return `- [${titleOf(page, tree)}](${page})${summary === undefined ? "" : `: ${summary}`}`;
}
