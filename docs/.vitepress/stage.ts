/**
 * Lays out the pages as the site has them. Links in the repository name files; on the site, a page is `index.md` where the
 * repository has a `README.md`, a folder is a page that lists it, and any other file is a text.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { allPages, isRelative, referencesOf, ROOT, targetOf, textOf, titleOf, treeOf } from "./pages.ts";

/** The site's path of a page of the repository. */
export function placeOf(page: string): string {
  return page.replace(/(^|\/)README\.md$/, "$1index.md");
}

const IMAGE = /\.(?:png|svg|jpe?g|gif|webp)$/;

/** The pages of the site, and the files that they name. */
class Site {
  readonly #folder: string;
  readonly #pages: ReadonlySet<string>;
  /** Folders and files that are not pages, and are named by pages. */
  readonly #named = new Set<string>();

  constructor(folder: string, pages: readonly string[]) {
    this.#folder = folder;
    this.#pages = new Set(pages);
  }

  write(path: string, text: string): void {
    const file = join(this.#folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }

  /** @returns the page's text, with links that are right on the site */
  textFor(page: string): string {
    const text = textOf(page);
    let [result, done] = ["", 0];
    for (const { url, start, embedded } of referencesOf(text, treeOf(page)).toSorted(
      (a, b) => a.start - b.start,
    )) {
      if (!isRelative(url) || url.startsWith("#")) continue;
      result += text.slice(done, start) + this.#urlOnSite(page, url, embedded);
      done = start + url.length;
    }
    return result + text.slice(done);
  }

  #urlOnSite(page: string, url: string, embedded: boolean): string {
    const place = this.#placeOfTarget(targetOf(page, url), embedded);
    const relative = posix.relative(posix.dirname(placeOf(page)), place);
    return `${relative.startsWith(".") ? "" : "./"}${relative}${/#.*$/s.exec(url)?.[0] ?? ""}`;
  }

  /** @returns where the site has a file or folder; notes that it needs it */
  #placeOfTarget(target: string, embedded: boolean): string {
    if (this.#pages.has(target)) return placeOf(target);
    const readme = posix.join(target, "README.md");
    if (this.#pages.has(readme)) return placeOf(readme);
    if (!embedded || !IMAGE.test(target)) return this.#note(target);
    mkdirSync(dirname(join(this.#folder, target)), { recursive: true });
    cpSync(join(ROOT, target), join(this.#folder, target));
    return target;
  }

  #note(target: string): string {
    this.#named.add(target);
    const isFolder = statSync(join(ROOT, target)).isDirectory();
    return isFolder ? posix.join(target, "index.md") : `files/${target}${IMAGE.test(target) ? "" : ".txt"}`;
  }

  /** Writes what pages name, until nothing new is named. */
  writeNamed(): void {
    for (const target of this.#named) {
      if (statSync(join(ROOT, target)).isDirectory()) this.#writeList(target);
      else {
        const file = join(this.#folder, "public", this.#note(target));
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, readFileSync(join(ROOT, target)));
      }
    }
  }

  #writeList(folder: string): void {
    const entries = readdirSync(join(ROOT, folder), { withFileTypes: true })
      .filter(({ name }) => !name.startsWith("."))
      .map((entry) => {
        const path = posix.join(folder, entry.name);
        const isPage = this.#pages.has(path);
        const place = posix.relative(folder, this.#placeOfTarget(path, false));
        return `- [${isPage ? titleOf(path) : entry.name}](${place.startsWith(".") ? "" : "./"}${place})`;
      });
    this.write(posix.join(folder, "index.md"), `# ${folder}\n\n${entries.sort().join("\n")}\n`);
  }
}

/** Writes all pages to a folder, which is emptied before. */
export function stage(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  const pages = allPages();
  const site = new Site(folder, pages);
  for (const page of pages) site.write(placeOf(page), site.textFor(page));
  site.writeNamed();
  // as Markdown, too: what llms.txt names is meant for programs
  for (const page of pages) site.write(posix.join("public", page), textOf(page));
  site.write("public/llms.txt", readFileSync(join(ROOT, "llms.txt"), "utf8"));
}
