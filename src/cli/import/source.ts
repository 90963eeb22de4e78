import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { BadUsage, Failed } from '../failure.ts'
import { formOf, type Form } from './form.ts'
import { jsonEntries } from './json-lines.ts'
import type { Entry } from './lines.ts'
import { isZlib } from './rows.ts'
import { openSpreadsheet, spreadsheetEntries, type SheetRules, type Spreadsheet } from './spreadsheet.ts'

/** A file of stones as it is understood, to be read as often as it takes. */
export type Source = {
  /** Each column with the field that it is; null for one that is left out. */
  readonly mapping: Readonly<Record<string, string | null>>
  /** The same for a person to check. */
  readonly described: string
  /** SHA-256 of its bytes as they lie there, in hex. */
  digest(): Promise<string>
  entries(): AsyncIterable<Entry>
}

/**
 * Looks at a file: a spreadsheet, or JSON lines, packed where its name ends in `.gz`.
 * @throws BadUsage for a header that can't be used, Failed for a file that can't be read as either, the system's error
 */
export async function openSource(file: string, rules: SheetRules): Promise<Source> {
  const form = await formOf(file).catch((error: unknown) => {
    throw isZlib(error) ? new Failed(`${file}: ${error.message}`) : error
  })
  const digest = () => digestOf(file)
  if (form.isJson) {
    if ((rules.mapping?.size ?? 0) > 0 || (rules.values?.length ?? 0) > 0)
      throw new BadUsage('--map and --map-value are for the columns of a header')
    const described = `lines of JSON with the members of a v4 diamond (${form.encoding})`
    return { mapping: {}, described, digest, entries: () => jsonEntries(file, form, rules.unknown) }
  }
  const sheet = await openSpreadsheet(file, form, rules)
  return { mapping: mappingOf(sheet), described: described(sheet), digest, entries: () => spreadsheetEntries(sheet) }
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}

const mappingOf = ({ header, columns }: Spreadsheet): Record<string, string | null> =>
  Object.fromEntries(header.flatMap((heading, index) => (heading === '' ? [] : [[heading, columns[index] ?? null]])))

/** What a person checks before anything is written. */
function described(sheet: Spreadsheet): string {
  const { encoding, delimiter } = sheet.form
  const columns = Object.entries(mappingOf(sheet)).map(([heading, field]) =>
    field === null ? `${heading} is left out` : heading === field ? heading : `${heading} is ${field}`,
  )
  const commas = Object.entries(sheet.decimals).flatMap(([name, decimal]) => (decimal === ',' ? [name] : []))
  const comma = commas.length === 0 ? '' : `, decimal comma in ${commas.join(' and ')}`
  const lines = [`columns: ${columns.join(', ')} (${encoding}, separated by ${SEPARATORS[delimiter]}${comma})`]
  if (sheet.hasTitle) lines.push(`line ${sheet.headerLine} is the header; what is above it is left out`)
  for (const line of sheet.totals) lines.push(`line ${line} is a total, and no stone`)
  return lines.join('\n')
}

const SEPARATORS: Readonly<Record<Form['delimiter'], string>> = {
  ',': 'commas',
  ';': 'semicolons',
  '\t': 'tabs',
  '|': 'vertical bars',
}

/** A file is read several times: stdin (`-`) is kept in one while it is worked with. */
export async function withFile<Result>(given: string, work: (file: string) => Promise<Result>): Promise<Result> {
  if (given !== '-') return work(given)
  const folder = await mkdtemp(join(tmpdir(), 'adamant-import-'))
  try {
    const file = join(folder, 'stdin')
    await pipeline(process.stdin, createWriteStream(file, { mode: 0o600 }))
    return await work(file)
  } finally {
    await rm(folder, { recursive: true })
  }
}
