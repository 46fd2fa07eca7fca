/**
 * Text in columns.
 *
 * @module
 */

/** Rows as lines with columns of equal width; the last column is as long as it is. */
export function renderTable(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, column) => widths[column] = Math.max(widths[column] ?? 0, cell.length));
  }
  return rows.map((row) =>
    row.map((cell, column) => column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0))
      .join("  ").trimEnd()
  ).join("\n");
}
