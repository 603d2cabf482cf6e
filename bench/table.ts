/** @returns rows of equal shape as a Markdown table */
export function tableOf(rows: readonly object[]): string {
  const [first] = rows;
  if (first === undefined) return "";
  const columns = Object.keys(first);
  const lines = rows.map((row) => columns.map((column) => text((row as Record<string, unknown>)[column])));
  const widths = columns.map((column, index) =>
    Math.max(column.length, ...lines.map((line) => line[index]!.length)),
  );
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, index) => cell.padEnd(widths[index]!)).join(" | ")} |`;
  const out = [line(columns), line(widths.map((width) => "-".repeat(width))), ...lines.map(line)];
  return `${out.join("\n")}\n`;
}

function text(value: unknown): string {
  if (typeof value === "number") {
    if (Number.isInteger(value)) return String(value);
    return Math.abs(value) < 0.1 ? value.toPrecision(2) : value.toFixed(2);
  }
  return String(value);
}
