/** An element of a page. */
export interface HtmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** Text of the element and of all within it, entities decoded. */
  text: string;
}

const VOID = new Set(["meta", "br", "img", "input", "link"]);
const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };
const TOKEN = /<!doctype html>|<(\/?)([a-z][a-z0-9]*)((?: [a-z-]+="[^"<>]*")*)>|[^<>]+|[<>]/gy;
const ATTRIBUTE = / ([a-z-]+)="([^"]*)"/g;

/**
 * Reads a page more strictly than any browser: every element is closed, every attribute quoted, and every `<`, `>` and `&` is
 * markup. So nobody else's text can be read as markup.
 *
 * @returns the elements in the order in which they begin
 * @throws where the page is not so
 */
export function parseHtml(page: string): readonly HtmlElement[] {
  const all: HtmlElement[] = [];
  const open: HtmlElement[] = [];
  TOKEN.lastIndex = 0;
  for (let at = 0; at < page.length; at = TOKEN.lastIndex) {
    const match = TOKEN.exec(page);
    if (match === null) throw new Error(`no HTML at ${at}: ${page.slice(at, at + 80)}`);
    const [token, closing, name, attributes = ""] = match;
    if (token === "<" || token === ">")
      throw new Error(`a stray ${token} at ${at}: ${page.slice(at, at + 80)}`);
    if (token === "<!doctype html>") {
      if (at !== 0) throw new Error("a doctype within the page");
    } else if (name === undefined) {
      // a style sheet is no markup, and a CSP knows it by its hash
      const text = open.at(-1)?.name === "style" ? token : decode(token);
      for (const element of open) element.text += text;
    } else if (closing === "/") {
      const element = open.pop();
      if (element?.name !== name) throw new Error(`</${name}> closes <${element?.name ?? ""}>`);
    } else {
      const read = [...attributes.matchAll(ATTRIBUTE)].map(([, key = "", value = ""]) => [
        key,
        decode(value),
      ]);
      const element = { name, attributes: Object.fromEntries(read) as Record<string, string>, text: "" };
      all.push(element);
      if (!VOID.has(name)) open.push(element);
    }
  }
  if (open.length > 0) throw new Error(`<${open.at(-1)?.name ?? ""}> is not closed`);
  return all;
}

/** The terms of a page's list of facts, and what it says of them. */
export function factsOf(elements: readonly HtmlElement[]): Readonly<Record<string, string>> {
  const texts = (name: string) => elements.filter((element) => element.name === name).map(({ text }) => text);
  const values = texts("dd");
  return Object.fromEntries(texts("dt").map((term, index) => [term, values[index] ?? ""]));
}

function decode(text: string): string {
  return text.replace(/&([^;&]*)(;?)/g, (all, name: string, end: string) => {
    const character = ENTITIES[name];
    if (character === undefined || end === "") throw new Error(`a stray & in ${all}`);
    return character;
  });
}
