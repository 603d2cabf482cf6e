/** Prints rows of equal shape as a Markdown table. */
export function printTable(title: string, rows: readonly object[]): void {
  const [first] = rows;
  if (first === undefined) return;
  const columns = Object.keys(first);
  const lines = rows.map((row) => columns.map((column) => text((row as Record<string, unknown>)[column])));
  const widths = columns.map((column, index) =>
    Math.max(column.length, ...lines.map((line) => line[index]!.length)),
  );
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, index) => cell.padEnd(widths[index]!)).join(" | ")} |`;
  const out = [
    "",
    title,
    "",
    line(columns),
    line(widths.map((width) => "-".repeat(width))),
    ...lines.map(line),
    "",
  ];
  process.stdout.write(`${out.join("\n")}\n`);
}

function text(value: unknown): string {
  if (typeof value === "number") return Number.isInteger(value) ? String(value) : value.toFixed(2);
  return String(value);
}
