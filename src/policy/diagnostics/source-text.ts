import type { PolicyFile } from "../diagnostic.ts";

/** A range of a file, in UTF-16 units from its beginning (without the byte order mark); `end` is exclusive. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** A file's text, with the offsets of its lines. Lines end as in YAML 1.2: LF, CRLF or CR. */
export class SourceText {
  readonly file: string;
  /** Without the byte order mark, which no editor counts as a column. */
  readonly text: string;
  #lineStarts: number[] | undefined;

  constructor({ name, text }: PolicyFile) {
    this.file = name;
    this.text = text.startsWith("\uFEFF") ? text.slice(1) : text;
  }

  /** @returns line and column of an offset, both counted from 1. */
  position(offset: number): { line: number; column: number } {
    const starts = this.lineStarts;
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  }

  /** @returns the text of a line (counted from 1) without its line break; empty if there is no such line */
  line(number: number): string {
    const start = this.lineStarts[number - 1];
    if (start === undefined) return "";
    const end = this.lineStarts[number] ?? this.text.length;
    return this.text.slice(start, end).replace(/\r?\n$|\r$/, "");
  }

  /** Offsets at which lines begin. */
  get lineStarts(): readonly number[] {
    this.#lineStarts ??= [
      0,
      ...Array.from(this.text.matchAll(/\r\n?|\n/g), (end) => end.index + end[0].length),
    ];
    return this.#lineStarts;
  }
}
