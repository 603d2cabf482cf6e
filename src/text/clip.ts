/** @returns `text`, or its beginning and an ellipsis, at most `limit` UTF-16 units; never half of a surrogate pair at the end. */
export function clip(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const cut = text.slice(0, limit - 1);
  // of a text that has half a pair of its own, the rest stays as it is
  const whole = cut.isWellFormed() ? cut : cut.replace(/[\ud800-\udbff]$/, "");
  return `${whole}…`;
}
