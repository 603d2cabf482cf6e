/** The commands of a block of shell, as far as our pages use the language: enough to see which programs they start with what. */

/** A simple command. */
export interface ShellCommand {
  /** Without quotes; parameters and substitutions are left as they are written. */
  readonly words: readonly string[];
  /** `NAME=value` before the command, or alone. */
  readonly assignments: Readonly<Record<string, string>>;
  /** Files that it writes: `> file`, `>> file`. */
  readonly written: readonly string[];
}

export interface ShellScript {
  readonly commands: readonly ShellCommand[];
  /** Commands of each function, by its name. */
  readonly functions: ReadonlyMap<string, readonly ShellCommand[]>;
}

type Token =
  | { readonly kind: "word"; readonly text: string; readonly quoted: boolean }
  | { readonly kind: "operator"; readonly text: string };

const OPERATORS = ["&&", "||", ";;", "|", "&", ";", "(", ")", "\n"] as const;
const REDIRECTION = /^(\d*)(<<-?|>>|>&|<&|>|<)/;
/** Words of the language that stand before a command. */
const KEYWORDS = new Set(["if", "then", "else", "elif", "while", "until", "do", "!", "{", "time"]);
/** Those that stand alone, or with words that are no command. */
const CLOSING = new Set(["fi", "done", "}", "esac"]);

/** @throws if a quote or a document is not closed */
export function parseShell(text: string): ShellScript {
  const lexer = new Lexer(text);
  const tokens = lexer.tokens();
  const commands: ShellCommand[] = [...lexer.substituted];
  const functions = new Map<string, ShellCommand[]>();
  let open: { name: string; depth: number } | undefined;
  let current: { words: string[]; assignments: Record<string, string>; written: string[] } | undefined;
  const end = () => {
    if (current === undefined) return;
    const { words, assignments } = current;
    if (words.length > 0 || Object.keys(assignments).length > 0)
      (open === undefined ? commands : (functions.get(open.name) ?? commands)).push(current);
    current = undefined;
  };
  for (let index = 0; index < tokens.length; index += 1) {
    const token = tokens[index];
    if (token === undefined) break;
    if (token.kind === "operator") {
      if (REDIRECTION.test(token.text)) {
        index += 1;
        const target = tokens[index];
        current ??= { words: [], assignments: {}, written: [] };
        if (target?.kind === "word" && token.text.endsWith(">")) current.written.push(target.text);
        continue;
      }
      if (token.text === "(" && current?.words.length === 1 && tokens[index + 1]?.text === ")") {
        const name = current.words[0] ?? "";
        current = undefined;
        functions.set(name, []);
        open = { name, depth: 0 };
        index += 1;
        continue;
      }
      end();
      continue;
    }
    const { text: word, quoted } = token;
    if (!quoted && current === undefined) {
      if (word === "{" && open !== undefined) {
        open.depth += 1;
        continue;
      }
      if (word === "}" && open !== undefined) {
        open.depth -= 1;
        if (open.depth === 0) open = undefined;
        continue;
      }
      if (word === "for" || word === "case") {
        // a name and words, no command
        const last = word === "for" ? "do" : "in";
        while (tokens[index + 1] !== undefined && tokens[index]?.text !== last) index += 1;
        continue;
      }
      if (KEYWORDS.has(word) || CLOSING.has(word)) continue;
    }
    current ??= { words: [], assignments: {}, written: [] };
    const [, name, value] = /^([A-Za-z_]\w*)=(.*)$/s.exec(word) ?? [];
    if (name !== undefined && value !== undefined && current.words.length === 0)
      current.assignments[name] = value;
    else current.words.push(word);
  }
  end();
  return { commands, functions };
}

class Lexer {
  readonly #text: string;
  #at = 0;
  /** Documents that begin after the line. */
  #awaited: string[] = [];
  /** Commands within `$(...)`. */
  readonly substituted: ShellCommand[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  tokens(): readonly Token[] {
    const found: Token[] = [];
    while (this.#at < this.#text.length) {
      const rest = this.#text.slice(this.#at);
      const [blank] = /^(?:[ \t]+|\\\n)/.exec(rest) ?? [];
      if (blank !== undefined) {
        this.#at += blank.length;
        continue;
      }
      if (rest.startsWith("#")) {
        this.#at += /^#[^\n]*/.exec(rest)?.[0].length ?? 0;
        continue;
      }
      const [redirection, , sign = ""] = REDIRECTION.exec(rest) ?? [];
      if (redirection !== undefined) {
        this.#at += redirection.length;
        found.push({ kind: "operator", text: redirection });
        if (sign.startsWith("<<")) {
          const [before = "", quote = "", name = ""] =
            /^[ \t]*(['"]?)(\w+)\1/.exec(this.#text.slice(this.#at)) ?? [];
          this.#at += before.length;
          this.#awaited.push(name);
          found.push({ kind: "word", text: name, quoted: quote !== "" });
        }
        continue;
      }
      const operator = OPERATORS.find((text) => rest.startsWith(text));
      if (operator !== undefined) {
        this.#at += operator.length;
        found.push({ kind: "operator", text: operator });
        if (operator === "\n") this.#skipDocuments();
        continue;
      }
      found.push(this.#word());
    }
    if (this.#awaited.length > 0) throw new Error(`no line \`${this.#awaited.join()}\``);
    return found;
  }

  #skipDocuments(): void {
    for (const name of this.#awaited) {
      const end = new RegExp(`^${name}$`, "m").exec(this.#text.slice(this.#at));
      if (end === null) throw new Error(`no line \`${name}\``);
      this.#at += end.index + name.length;
    }
    this.#awaited = [];
  }

  #word(): Token {
    let [text, quoted] = ["", false];
    for (;;) {
      const char = this.#text[this.#at];
      if (char === undefined || /[\s|&;()<>]/.test(char)) return { kind: "word", text, quoted };
      if (char === "'") {
        quoted = true;
        const end = this.#text.indexOf("'", this.#at + 1);
        if (end < 0) throw new Error(`a quote is not closed: ${this.#text.slice(this.#at, this.#at + 40)}`);
        text += this.#text.slice(this.#at + 1, end);
        this.#at = end + 1;
      } else if (char === '"') {
        quoted = true;
        text += this.#doubleQuoted();
      } else if (char === "\\") {
        if (this.#text[this.#at + 1] !== "\n") text += this.#text[this.#at + 1] ?? "";
        this.#at += 2;
      } else if (char === "$" && this.#text[this.#at + 1] === "(") text += this.#substitution();
      else {
        text += char;
        this.#at += 1;
      }
    }
  }

  #doubleQuoted(): string {
    let text = "";
    this.#at += 1;
    for (;;) {
      const char = this.#text[this.#at];
      if (char === undefined) throw new Error("a quote is not closed");
      if (char === '"') {
        this.#at += 1;
        return text;
      }
      if (char === "\\" && /["\\$`\n]/.test(this.#text[this.#at + 1] ?? "")) {
        text += this.#text[this.#at + 1] === "\n" ? "" : (this.#text[this.#at + 1] ?? "");
        this.#at += 2;
      } else if (char === "$" && this.#text[this.#at + 1] === "(") text += this.#substitution();
      else {
        text += char;
        this.#at += 1;
      }
    }
  }

  /** `$(...)`, whose commands are kept; its result is not known. */
  #substitution(): string {
    const start = this.#at + 2;
    let depth = 1;
    let at = start;
    for (; depth > 0; at += 1) {
      const char = this.#text[at];
      if (char === undefined) throw new Error("`$(` is not closed");
      if (char === "'") at = this.#text.indexOf("'", at + 1);
      if (char === "(") depth += 1;
      if (char === ")") depth -= 1;
    }
    this.#at = at;
    this.substituted.push(...parseShell(this.#text.slice(start, at - 1)).commands);
    return "$(...)";
  }
}
