import { foldedParts, foldLetter, IGNORED, SEPARATOR, type Folded } from "./fold.ts";

/**
 * The names that a rule reads, folded, letter by letter. A name of a request is followed through them as far as it could
 * still become one, which nearly all names cannot after a letter or two. So the time for a name is bounded by its length,
 * nothing is kept of it, and it needs no memory of names that were seen before.
 */
export interface Spellings {
  /** What the rule reads, where a name ends here. */
  readonly read?: string;
  readonly next: ReadonlyMap<number, Spellings>;
}

interface Letter extends Spellings {
  read?: string;
  readonly next: Map<number, Letter>;
}

/** @param names - what is read, by how the rule writes it; of several that are folded alike, the last one is named */
export function spellingsOf(names: Iterable<string>): Spellings {
  const root: Letter = { next: new Map() };
  for (const name of names) {
    const folded = foldedParts(name).join("");
    let letter = root;
    for (let at = 0; at < folded.length; at++) {
      const code = folded.charCodeAt(at);
      let next = letter.next.get(code);
      if (next === undefined) letter.next.set(code, (next = { next: new Map() }));
      letter = next;
    }
    letter.read = name;
  }
  return root;
}

/** @returns the name that `name` could be read as, with all of its parts or without the numbers of items of lists. */
export function readAs(name: string, spellings: Spellings): string | undefined {
  if (!couldBegin(name, spellings)) return undefined;
  const follower = new Follower(spellings);
  for (let at = 0; at < name.length; at++) {
    const code = name.codePointAt(at) ?? 0;
    if (code > 0xffff) at += 1;
    if (!follower.goesOn(foldLetter(code))) return undefined;
  }
  return follower.end();
}

/** @returns false where the first letter is of ASCII, and that of no name which is read: so are most. */
function couldBegin(name: string, { next }: Spellings): boolean {
  const code = name.charCodeAt(0);
  if (Number.isNaN(code) || code > 0x7f) return true;
  const first = foldLetter(code);
  return typeof first !== "number" || first < 0 || next.has(first);
}

/** Where a name has led so far; `undefined`: nowhere. */
class Follower {
  #whole: Spellings | undefined;
  #unindexed: Spellings | undefined;
  /** Where `#unindexed` was before a part that has been nothing but a number. */
  #before: Spellings | undefined;
  #part: "empty" | "number" | "word" = "empty";
  /** The first part is never the number of an item. */
  #isFirst = true;

  constructor(spellings: Spellings) {
    this.#whole = spellings;
    this.#unindexed = spellings;
  }

  /** @returns false where the name cannot be one of those that are read, however it goes on. */
  goesOn(letter: Folded): boolean {
    if (letter === IGNORED) return true;
    if (letter === SEPARATOR) this.#endPart();
    else if (typeof letter === "number") this.#follow(letter);
    else for (let at = 0; at < letter.length; at++) this.#follow(letter.charCodeAt(at));
    return this.#whole !== undefined || this.#unindexed !== undefined || this.#before !== undefined;
  }

  end(): string | undefined {
    this.#endPart();
    return this.#whole?.read ?? this.#unindexed?.read;
  }

  #follow(code: number): void {
    const isDigit = code >= ZERO && code <= NINE;
    if (this.#part === "empty" && isDigit && !this.#isFirst) {
      this.#part = "number";
      this.#before = this.#unindexed;
    } else if (!isDigit || this.#part === "empty") {
      this.#part = "word";
      this.#before = undefined;
    }
    this.#whole = this.#whole?.next.get(code);
    this.#unindexed = this.#unindexed?.next.get(code);
  }

  #endPart(): void {
    if (this.#part === "empty") return;
    if (this.#part === "number") this.#unindexed = this.#before;
    this.#before = undefined;
    this.#part = "empty";
    this.#isFirst = false;
  }
}

const ZERO = 0x30;
const NINE = 0x39;
