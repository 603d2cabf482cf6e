/**
 * Why a text is not read: it is not JSON; a string holds half of a surrogate pair, which UTF-8 cannot say, or U+0000, which
 * C strings end at; it is nested too deep; it has too many values.
 */
export type JsonReason = "syntax" | "utf8" | "depth" | "values";

/** The text is not JSON, or JSON that not every reader takes. The message holds nothing of the text. */
export class JsonError extends Error {
  override readonly name = "JsonError";
  readonly reason: JsonReason;
  /** Where in the text, in UTF-16 units from 0. */
  readonly position: number;

  constructor(reason: JsonReason, what: string, position: number) {
    super(reason === "values" ? what : `${what}, at character ${position + 1}`);
    this.reason = reason;
    this.position = position;
  }
}
