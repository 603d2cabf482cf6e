import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

export function guideText(page: string): string {
  return readFileSync(new URL(`../../../docs/deployment/${page}.md`, import.meta.url), "utf8");
}

/** The blocks of a language in a page, in their order. */
export function blocksOf(text: string, language: string): readonly string[] {
  return [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].flatMap(([, name, block = ""]) =>
    name === language ? [block] : [],
  );
}

/** @returns the blocks of that language in docs/deployment, in their order */
export function guideBlocks(page: string, language: string): readonly string[] {
  return blocksOf(guideText(page), language);
}

/** @returns the block of that language in docs/deployment, of which there is one */
export function guideBlock(page: string, language: string): string {
  const blocks = guideBlocks(page, language);
  assert.equal(blocks.length, 1, `${page}.md has one block of ${language}`);
  return blocks[0] ?? "";
}

/** Replaces each text, which must be there. */
export function withPlaces(block: string, places: Readonly<Record<string, string>>): string {
  return Object.entries(places).reduce((text, [written, used]) => {
    assert.ok(text.includes(written), `the guide has \`${written}\``);
    return text.replaceAll(written, used);
  }, block);
}
