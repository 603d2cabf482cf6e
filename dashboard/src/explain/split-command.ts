/** The escapes of `$'...'` that browsers write into copied commands. */
const ESCAPES: Readonly<Record<string, string>> = {
  n: "\n",
  r: "\r",
  t: "\t",
  "\\": "\\",
  "'": "'",
  '"': '"',
};

/** Splits a command as a POSIX shell does (IEEE Std 1003.1, 2.2), with `$'...'`; nothing is expanded. */
export function splitCommand(command: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  for (let at = 0; at < command.length; at++) {
    const character = command.charAt(at);
    if (character === "\\") {
      at += 1;
      // a line goes on after a backslash at its end
      if (command.charAt(at) === "\r") at += 1;
      if (command.charAt(at) !== "\n") word = (word ?? "") + command.charAt(at);
    } else if (character === "'" || character === '"') {
      const [text, end] = quoted(command, at + 1, character);
      word = (word ?? "") + text;
      at = end;
    } else if (character === "$" && command.charAt(at + 1) === "'") {
      const [text, end] = escaped(command, at + 2);
      word = (word ?? "") + text;
      at = end;
    } else if (/\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? "") + character;
  }
  return word === undefined ? words : [...words, word];
}

function quoted(command: string, start: number, quote: string): readonly [text: string, end: number] {
  let text = "";
  let at = start;
  for (; at < command.length && command.charAt(at) !== quote; at++) {
    const next = command.charAt(at + 1);
    if (quote === '"' && command.charAt(at) === "\\" && '"\\$`\n'.includes(next)) {
      at += 1;
      if (next !== "\n") text += next;
    } else text += command.charAt(at);
  }
  return [text, at];
}

function escaped(command: string, start: number): readonly [text: string, end: number] {
  let text = "";
  let at = start;
  for (; at < command.length && command.charAt(at) !== "'"; at++) {
    if (command.charAt(at) !== "\\") {
      text += command.charAt(at);
      continue;
    }
    at += 1;
    const code = /^(?:u([0-9a-fA-F]{1,4})|x([0-9a-fA-F]{1,2}))/.exec(command.slice(at, at + 5));
    if (code === null) text += ESCAPES[command.charAt(at)] ?? `\\${command.charAt(at)}`;
    else {
      text += String.fromCharCode(parseInt(code[1] ?? code[2] ?? "", 16));
      at += code[0].length - 1;
    }
  }
  return [text, at];
}
