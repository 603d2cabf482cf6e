/** Replaces the range from `start` to `stop` (exclusive) with `text`. */
export interface Edit {
  readonly start: number;
  readonly stop: number;
  readonly text: string;
}

/** Applies edits, which are in order and do not overlap. Everything else is unchanged. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  const pieces: string[] = [];
  let kept = 0;
  for (const edit of edits) {
    pieces.push(text.slice(kept, edit.start), edit.text);
    kept = edit.stop;
  }
  pieces.push(text.slice(kept));
  return pieces.join("");
}
