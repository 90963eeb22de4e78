import { Command, Option } from 'commander'
import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { requireAccount } from '../commands/accounts/accounts.ts'
import { loadStream } from '../events/load-stream.ts'
import { diamondFold, diamondStream, type LiveDiamond } from '../domain/diamond/diamond.ts'
import {
  bodyMembersOf,
  FIELDS,
  fieldsOf,
  memberNameOf,
  type DiamondFields,
  type FieldName,
} from '../domain/diamond/fields.ts'
import { isoDate, jsonWriterOf } from '../representations/diamond/diamond-json.ts'
import type { EventStore } from '../stores/ports/event-store.ts'
import type { Installation } from '../wiring/installation.ts'
import { escapeCell } from '../trade-files/sheet-cell.ts'
import { readStock } from '../commands/imports/stock.ts'
import { withInstallation, type OpenInstallation } from './with-installation.ts'
import { formatQuantity, note, noteSkippedEvent, printResult, type OutputOptions } from './output.ts'

/** `jsonl`: one JSON object per line. */
export type ExportFormat = 'csv' | 'jsonl'

const COLUMNS = fieldsOf('v4')

const MEMBERS = [...bodyMembersOf('v4')]

const WRITERS = new Map(COLUMNS.map((name) => [name, jsonWriterOf(FIELDS[name], 'v4')]))

/** Streams that are read concurrently. */
const STREAMS_PER_READ = 100

/**
 * The text of a file with these diamonds, in v4 names and values, in chunks. Diamonds that were deleted meanwhile are left out.
 * @throws StoreUnavailable; UnsupportedEventVersion, InvalidEventPayload, since an incomplete file would look complete
 */
export async function* rowsOf(store: EventStore, ids: readonly number[], format: ExportFormat): AsyncGenerator<string> {
  const row = ROWS[format]
  if (format === 'csv') yield line(['id', ...COLUMNS, 'date'])
  for (let from = 0; from < ids.length; from += STREAMS_PER_READ) {
    const loading = ids
      .slice(from, from + STREAMS_PER_READ)
      .map((id) => loadStream(store, diamondStream(id), diamondFold))
    const live = (await Promise.all(loading)).flatMap(({ state }) => (state.status === 'live' ? [state] : []))
    if (live.length > 0) yield live.map(row).join('')
  }
}

const ROWS: Readonly<Record<ExportFormat, (diamond: LiveDiamond) => string>> = {
  csv: ({ id, fields, date }) => {
    const cells = COLUMNS.map((name) => JSON.parse(jsonOf(name, fields)) as ExportCell)
    return line([id, ...cells, isoDate(date)])
  },
  jsonl: ({ id, fields, date }) => {
    const members = MEMBERS.map(([name, field]) => {
      if (typeof field === 'string') return `"${name}":${jsonOf(field, fields)}`
      const values = field.map((member) => `"${memberNameOf(member)}":${jsonOf(member, fields)}`)
      return `"${name}":${field.every((member) => fields[member] === null) ? 'null' : `{${values.join(',')}}`}`
    })
    return `{"id":${id},${members.join(',')},"date":"${isoDate(date)}"}\n`
  },
}

/** null for a value that is not set, so that an import of the file removes it. */
const jsonOf = (name: FieldName, fields: DiamondFields): string => WRITERS.get(name)?.(fields[name]) ?? 'null'

type ExportCell = string | number | boolean | null

const line = (cells: readonly ExportCell[]) => `${cells.map(cellText).join(',')}\r\n`

/** Quoted per RFC 4180 where necessary, so that an import reads the same text. */
function cellText(cell: ExportCell): string {
  if (cell === null) return ''
  const text = typeof cell === 'string' ? escapeCell(cell) : String(cell)
  return /[",;\t\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

type ExportOptions = OutputOptions & { readonly user: string; readonly format?: ExportFormat }

/** `export`: an account's diamonds as a file that `import` can read. */
export function exportCommand(open: OpenInstallation): Command {
  return new Command('export')
    .description('Export the diamonds of an account to a file that `import` can read')
    .argument('[file]', 'Target file: .csv or .jsonl, gzip-compressed if the name ends in .gz (default: stdout)')
    .requiredOption('--user <email>', 'Account that owns the diamonds')
    .addOption(
      new Option('--format <format>', "File format (default: from the file's name, else csv)").choices([
        'csv',
        'jsonl',
      ]),
    )
    .option('--json', 'Print one line of JSON; without a file, export JSON lines instead of CSV')
    .addHelpText('after', HELP)
    .action((file: string | undefined, options: ExportOptions) => exportStones(open, file, options))
}

const HELP = `
Examples:
  npx adamant export stones.csv --user jane@example.com
  npx adamant export --user jane@example.com --format jsonl | gzip > stones.jsonl.gz`

async function exportStones(open: OpenInstallation, file: string | undefined, options: ExportOptions): Promise<void> {
  await withInstallation(open, async (installation) => {
    const { store } = installation
    const { account } = await requireAccount(installation, options.user)
    const ids = [...(await readStock(store, account, noteSkippedEvent)).skus.keys()]
    const format = options.format ?? formatOf(file, options)
    if (file !== undefined) {
      await writeFile(installation, ids, file, format)
      return printResult(
        options,
        { stones: ids.length, file, format },
        `Exported ${formatQuantity(ids.length, 'stone')} to ${file}`,
      )
    }
    await pipeline(Readable.from(rowsOf(store, ids, format)), process.stdout, { end: false })
    note(`Exported ${formatQuantity(ids.length, 'stone')} of ${options.user}`)
  })
}

function formatOf(file: string | undefined, { json }: ExportOptions): ExportFormat {
  if (file === undefined) return json === true ? 'jsonl' : 'csv'
  return /\.(jsonl|ndjson|json)(\.gz)?$/i.test(file) ? 'jsonl' : 'csv'
}

/** Renames the file into place once it is complete: importing a partial file with --delete-missing would delete the rest. */
async function writeFile(
  { store }: Installation,
  ids: readonly number[],
  file: string,
  format: ExportFormat,
): Promise<void> {
  const partialFile = `${file}.partial`
  const rows = Readable.from(rowsOf(store, ids, format))
  const out = createWriteStream(partialFile, { mode: 0o600, flush: true })
  try {
    await (file.toLowerCase().endsWith('.gz') ? pipeline(rows, createGzip(), out) : pipeline(rows, out))
    await rename(partialFile, file)
  } finally {
    await rm(partialFile, { force: true })
  }
}
