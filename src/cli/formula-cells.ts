/**
 * What a spreadsheet program takes for a formula: it runs, and may send what is in other cells. Signs of full width count
 * as well (OWASP, CSV Injection).
 */
const FORMULA = /^'*[=+\-@＝＋－＠]/

/** A text of a cell with an apostrophe before it where it would be a formula, by which such programs take it for text. */
export const guarded = (text: string): string => (FORMULA.test(text) ? `'${text}` : text)

/** A text of a cell without that apostrophe. */
export const unguarded = (cell: string): string => (cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell)
