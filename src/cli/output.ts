/** How a subcommand was asked to answer. */
export type OutputOptions = { readonly json?: true }

/** Prints a result on stdout: one line of JSON for machines, the text for people. */
export function printResult({ json }: OutputOptions, result: object, text: string): void {
  process.stdout.write(`${json === true ? JSON.stringify(result) : text}\n`)
}

/** Tells people on stderr what goes on: stdout belongs to results. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`)
}

/** What a list leaves out of account: the rest of it is right all the same. */
export const notePassedOver = (stream: string, { message }: Error): void =>
  note(`${stream} is shown without an event that this release does not understand: ${message}`)

/** Rows under their headings, as wide as their widest cell. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [headings, ...rows]
  const widths = headings.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)))
  const line = (row: readonly string[]) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')
  return all.map((row) => line(row).trimEnd()).join('\n')
}
