export type CsvCell = string | number | boolean | null

/**
 * A line of CSV, quoted per RFC 4180 where necessary; empty cells for null.
 * @param escape of texts, such as `escapeCell`
 */
export const csvLine = (cells: readonly CsvCell[], escape: (text: string) => string): string =>
  `${cells.map((cell) => cellText(cell, escape)).join(',')}\r\n`

function cellText(cell: CsvCell, escape: (text: string) => string): string {
  if (cell === null) return ''
  const text = typeof cell === 'string' ? escape(cell) : String(cell)
  return /[",;\t\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
