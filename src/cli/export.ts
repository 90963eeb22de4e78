import { Command, Option } from 'commander'
import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { requireAccount } from '../commands/accounts/accounts.ts'
import { readStock } from '../commands/imports/stock.ts'
import { diamondFold, diamondStream, type LiveDiamond } from '../domain/diamond/diamond.ts'
import { loadStream } from '../events/load-stream.ts'
import { PATH_LINKS } from '../representations/json.ts'
import type { EventStore } from '../stores/ports/event-store.ts'
import { describeRemark, StoneExport, type ExportSummary } from '../trade-files/export/export.ts'
import { EXPORT_FORMAT_NAMES, EXPORT_FORMATS, type ExportFormatName } from '../trade-files/export/formats.ts'
import { openLinks } from '../wiring/links.ts'
import { formatQuantity, note, noteSkippedEvent, printResult, type OutputOptions } from './output.ts'
import { withInstallation, type OpenInstallation } from './with-installation.ts'

/** Streams that are read concurrently. */
const STREAMS_PER_READ = 100

/**
 * Stones from the event log, some at a time. Those that were deleted meanwhile are left out.
 * @throws StoreUnavailable; UnsupportedEventVersion, InvalidEventPayload, since an incomplete file would look complete
 */
async function* stonesOf(store: EventStore, ids: readonly number[]): AsyncGenerator<readonly LiveDiamond[]> {
  for (let from = 0; from < ids.length; from += STREAMS_PER_READ) {
    const loading = ids
      .slice(from, from + STREAMS_PER_READ)
      .map((id) => loadStream(store, diamondStream(id), diamondFold))
    yield (await Promise.all(loading)).flatMap(({ state }) => (state.status === 'live' ? [state] : []))
  }
}

type ExportOptions = OutputOptions & { readonly user: string; readonly format?: ExportFormatName }

/** `export`: an account's diamonds as a file that `import` or a portal can read. */
export function exportCommand(open: OpenInstallation): Command {
  return new Command('export')
    .description('Export the diamonds of an account to a file that `import` can read, or a portal')
    .argument('[file]', 'Target file, gzip-compressed if the name ends in .gz (default, and -: stdout)')
    .requiredOption('--user <email>', 'Account that owns the diamonds, by e-mail address or number')
    .addOption(
      new Option('--format <format>', "Format (default: jsonl if the file's name ends in .jsonl, else csv)").choices(
        EXPORT_FORMAT_NAMES,
      ),
    )
    .option('--json', 'Print one line of JSON; without a file, export JSON lines instead of CSV')
    .addHelpText('after', HELP)
    .action((file: string | undefined, options: ExportOptions) =>
      exportStones(open, file === '-' ? undefined : file, options),
    )
}

const HELP = `
Examples:
  adamant export stones.csv --user jane@example.com
  adamant export rapnet.csv --user jane@example.com --format rapnet
  adamant export --user jane@example.com --format jsonl | gzip > stones.jsonl.gz`

async function exportStones(open: OpenInstallation, file: string | undefined, options: ExportOptions): Promise<void> {
  await withInstallation(open, async (installation) => {
    const { store } = installation
    const { account } = await requireAccount(installation, options.user)
    const ids = [...(await readStock(store, account, noteSkippedEvent)).skus.keys()]
    const format = options.format ?? formatOf(file, options)
    const links = EXPORT_FORMATS[format].isPortal ? await openLinks(installation) : PATH_LINKS
    const stoneExport = new StoneExport(format, links)
    const text = Readable.from(stoneExport.write(stonesOf(store, ids)))
    if (file === undefined) {
      await pipeline(text, process.stdout, { end: false })
      note(`${describeCount(stoneExport)} of ${options.user}`)
    } else {
      await writeFile(text, file)
      const result = { ...stoneExport.summary, file, format }
      printResult(options, result, `${describeCount(stoneExport)} to ${file}`)
      if (options.json === true) return
    }
    for (const line of describeSummary(stoneExport.summary)) note(line)
  })
}

function formatOf(file: string | undefined, { json }: ExportOptions): ExportFormatName {
  if (file === undefined) return json === true ? 'jsonl' : 'csv'
  return /\.(jsonl|ndjson|json)(\.gz)?$/i.test(file) ? 'jsonl' : 'csv'
}

const describeCount = ({ summary }: StoneExport) => `Exported ${formatQuantity(summary.stones, 'stone')}`

const describeSummary = ({ remarks, lacks }: ExportSummary): readonly string[] => [
  ...remarks.map(describeRemark),
  ...(lacks === null ? [] : [`The file lacks ${lacks}`]),
]

/** Renames the file into place once it is complete: importing a partial file with --delete-missing would delete the rest. */
async function writeFile(text: Readable, file: string): Promise<void> {
  const partialFile = `${file}.partial`
  const out = createWriteStream(partialFile, { mode: 0o600, flush: true })
  try {
    await (file.toLowerCase().endsWith('.gz') ? pipeline(text, createGzip(), out) : pipeline(text, out))
    await rename(partialFile, file)
  } finally {
    await rm(partialFile, { force: true })
  }
}
