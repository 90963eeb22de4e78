export const markdownTable = (heads: readonly string[], rows: readonly (readonly string[])[]): string =>
  [heads, heads.map(() => '---'), ...rows.map((row) => row.map(cell))].map((row) => `| ${row.join(' | ')} |`).join('\n')

const cell = (text: string) => text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|')
