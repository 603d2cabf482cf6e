/**
 * Why a text is refused: it is not JSON; a string contains an unpaired surrogate, which UTF-8 cannot encode, or U+0000,
 * which ends C strings; it is nested too deeply; it has too many values.
 */
export type JsonReason = "syntax" | "utf8" | "depth" | "values";

/** The text is not JSON, or JSON that not every parser accepts. The message contains nothing of the text. */
export class JsonError extends Error {
  override readonly name = "JsonError";
  readonly reason: JsonReason;
  /** The position in the text, in UTF-16 units from 0. */
  readonly position: number;

  constructor(reason: JsonReason, what: string, position: number) {
    super(reason === "values" ? what : `${what}, at character ${position + 1}`);
    this.reason = reason;
    this.position = position;
  }
}
