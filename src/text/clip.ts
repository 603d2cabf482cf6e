/** @returns `text`, or its beginning and an ellipsis, at most `limit` UTF-16 units; never splits a surrogate pair */
export function clip(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const cut = text.slice(0, limit - 1);
  // an unpaired surrogate in the text itself is kept
  const whole = cut.isWellFormed() ? cut : cut.replace(/[\ud800-\udbff]$/, "");
  return `${whole}…`;
}
