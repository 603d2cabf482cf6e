/**
 * Inserts a table in README.md, between `<!-- name -->` and `<!-- end -->`.
 *
 * @throws if there is no such section
 */
export function readmeWith(text: string, name: string, table: string): string {
  const start = `<!-- ${name} -->\n`;
  const from = text.indexOf(start);
  const to = text.indexOf("<!-- end -->", from);
  if (from < 0 || to < 0) throw new Error(`README.md has no section for the table \`${name}\``);
  return `${text.slice(0, from + start.length)}\n${table}\n${text.slice(to)}`;
}
