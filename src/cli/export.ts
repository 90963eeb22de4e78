import { Command, Option } from 'commander'
import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { accountOf } from '../commands/accounts/accounts.ts'
import type { Installation } from '../wiring/installation.ts'
import { rowsOf, type Format } from './export/rows.ts'
import { stonesOf } from './import/inventory.ts'
import { withInstallation, type Open } from './installed.ts'
import { note, printResult, type OutputOptions } from './output.ts'
import { count } from './progress-bar.ts'

type ExportOptions = OutputOptions & { readonly user: string; readonly format?: Format }

/** `export`: an account's stones as a file, which `import` reads again. */
export function exportCommand(open: Open): Command {
  return new Command('export')
    .description('write the diamonds of an account to a file, in the names and values of v4, as import reads them')
    .argument('[file]', '.csv or .jsonl, packed where it ends in .gz; stdout without one')
    .requiredOption('--user <email>', 'the account that owns them')
    .addOption(
      new Option('--format <format>', "what is written; by the file's name unless told").choices(['csv', 'jsonl']),
    )
    .option('--json', 'print one line of JSON; to stdout, lines of JSON instead of CSV')
    .addHelpText('after', HELP)
    .action((file: string | undefined, options: ExportOptions) => exportStones(open, file, options))
}

const HELP = `
Examples:
  npx adamant export stones.csv --user jane@example.com
  npx adamant export --user jane@example.com --format jsonl | gzip > stones.jsonl.gz`

async function exportStones(open: Open, file: string | undefined, options: ExportOptions): Promise<void> {
  await withInstallation(open, async (installation) => {
    const { store } = installation
    const { account } = await accountOf(installation, options.user)
    const ids = [...(await stonesOf(store, account)).skus.keys()]
    const format = options.format ?? formatOf(file, options)
    if (file !== undefined) {
      await writeFile(installation, ids, file, format)
      return printResult(options, { stones: ids.length, file, format }, `wrote ${count(ids.length)} stones to ${file}`)
    }
    await pipeline(Readable.from(rowsOf(store, ids, format)), process.stdout, { end: false })
    note(`wrote ${count(ids.length)} stones of ${options.user}`)
  })
}

function formatOf(file: string | undefined, { json }: ExportOptions): Format {
  if (file === undefined) return json === true ? 'jsonl' : 'csv'
  return /\.(jsonl|ndjson|json)(\.gz)?$/i.test(file) ? 'jsonl' : 'csv'
}

/** Under its name when it is whole: a part of it, imported with --delete-missing, would delete the rest. */
async function writeFile({ store }: Installation, ids: readonly number[], file: string, format: Format): Promise<void> {
  const draft = `${file}.partial`
  const rows = Readable.from(rowsOf(store, ids, format))
  const out = createWriteStream(draft, { mode: 0o600, flush: true })
  try {
    await (file.toLowerCase().endsWith('.gz') ? pipeline(rows, createGzip(), out) : pipeline(rows, out))
    await rename(draft, file)
  } finally {
    await rm(draft, { force: true })
  }
}
