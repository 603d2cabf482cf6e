/** What the parts of the documentation are called, in the order of the site's sidebar and of llms.txt. */
import { allPages } from "./pages.ts";

export interface Section {
  readonly title: string;
  readonly pages: readonly string[];
  /** Whether a reader who only uses Gatehouse can do without it. */
  readonly optional: boolean;
  /** The site's page that lists them, for those of which there are too many. */
  readonly list: string | undefined;
}

const SECTIONS: readonly (readonly [title: string, pages: RegExp, optional?: true, list?: string])[] = [
  ["Guides and reference", /^(?:README|docs\/[^/]+)\.md$/],
  ["Protocols", /^docs\/protocols\//],
  ["Recipes", /^docs\/recipes\//],
  ["Operations", /^docs\/operations\//],
  ["Deployment", /^docs\/deployment\//],
  ["Files to deploy", /^deploy\//],
  ["Client libraries", /^clients\/(?!cases\/)/],
  ["Project", /^[A-Z_]+\.md$/, true],
  ["Design decisions", /^docs\/decisions\//, true, "/docs/decisions/"],
  ["Inside", /./, true, "/src/"],
];

/** Every page, in exactly one section; sections without pages are left out. */
export function sections(pages: readonly string[] = allPages()): readonly Section[] {
  const open = new Set(pages);
  return SECTIONS.flatMap(([title, pattern, optional = false, list]) => {
    const own = [...open].filter((page) => pattern.test(page)).sort(byImportance);
    for (const page of own) open.delete(page);
    return own.length > 0 ? [{ title, pages: own, optional, list }] : [];
  });
}

/** Readers start with these. */
const FIRST = ["README.md", "docs/README.md", "docs/first-rule.md", "docs/tutorial.md", "docs/concepts.md"];

function byImportance(a: string, b: string): number {
  const rank = (page: string) => {
    const place = FIRST.indexOf(page);
    if (place >= 0) return place;
    return FIRST.length + (page.endsWith("/README.md") ? 0 : 1);
  };
  return rank(a) - rank(b) || (a < b ? -1 : 1);
}
