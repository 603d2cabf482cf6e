import { foldedParts, foldLetter, IGNORED, SEPARATOR, type Folded } from "./fold.ts";

/**
 * A trie of the folded names that a rule reads. A name of a request is matched as far as it could still become one of them,
 * which is rarely more than a letter or two. So the time for a name is bounded by its length, and nothing needs to be cached.
 */
export interface Spellings {
  /** The name that the rule reads, if one ends here. */
  readonly read?: string;
  readonly next: ReadonlyMap<number, Spellings>;
}

interface Letter extends Spellings {
  read?: string;
  readonly next: Map<number, Letter>;
}

/** @param names - the names as written in the rule; of several with the same folding, the last one is reported */
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

/** @returns the name that `name` could be read as, with all of its parts or without list indexes. */
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

/** @returns false if the first letter is ASCII and no name that is read starts with it, which is the common case. */
function couldBegin(name: string, { next }: Spellings): boolean {
  const code = name.charCodeAt(0);
  if (Number.isNaN(code) || code > 0x7f) return true;
  const first = foldLetter(code);
  return typeof first !== "number" || first < 0 || next.has(first);
}

/** The current node; `undefined`: no match. */
class Follower {
  #whole: Spellings | undefined;
  #unindexed: Spellings | undefined;
  /** The node of `#unindexed` before a part that so far is only a number. */
  #before: Spellings | undefined;
  #part: "empty" | "number" | "word" = "empty";
  /** The first part is never a list index. */
  #isFirst = true;

  constructor(spellings: Spellings) {
    this.#whole = spellings;
    this.#unindexed = spellings;
  }

  /** @returns false if no continuation of the name can be one of those that are read. */
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
