import { Command } from 'commander'
import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createDiamonds } from '../commands/diamonds/create-diamonds.ts'
import { IdBlocks } from '../commands/installation/integer-ids.ts'
import type { Inventory } from '../commands/diamonds/diamonds.ts'
import { accountOf } from '../commands/accounts/accounts.ts'
import type { NewDiamond } from '../domain/diamond/fields.ts'
import type { Installation } from '../wiring/installation.ts'
import type { From } from '../stores/ports/event-store.ts'
import { Failed } from './failure.ts'
import { readMapping } from './import/columns.ts'
import { openSpreadsheet, readSpreadsheet, type Spreadsheet } from './import/spreadsheet.ts'
import { withInstallation, type Open } from './installed.ts'
import { operator } from './operator.ts'
import { note, printResult, type OutputOptions } from './output.ts'
import { count, progressBar } from './progress-bar.ts'
import { awaitReadModels } from './read-models.ts'
import { listenForStop, type StopSignal } from './stop-signal.ts'

/** Stones that are written in one transaction. */
const BULK = 500

type ImportOptions = OutputOptions & {
  readonly user: string
  readonly skipBad?: true
  readonly ignoreUnknown?: true
  readonly map: readonly string[]
  readonly dryRun?: true
}

type BadLine = { readonly line: number; readonly problems: readonly string[] }

/** `import`: stones from a spreadsheet. */
export function importCommand(open: Open): Command {
  return new Command('import')
    .description('create the diamonds of a spreadsheet, whose header names v4 fields in any case')
    .argument('<file>', '.csv or .csv.gz; - reads stdin')
    .requiredOption('--user <email>', 'the account that owns them')
    .option('--skip-bad', 'leave out the lines that can not be used; without it one such line stops the import')
    .option('--ignore-unknown', 'leave out columns that are no v4 fields')
    .option('--map <column=field>', 'what a column is; COLUMN= leaves it out; can be repeated', collected, [])
    .option('--dry-run', 'check all lines and write nothing')
    .option('--json', 'print one line of JSON')
    .addHelpText('after', EXAMPLE)
    .action((file: string, options: ImportOptions) => importStones(open, file, options))
}

const EXAMPLE = `
Example:
  printf 'sku,cutShape,carat,color\\nA-1,Round,0.71,G\\n' > stones.csv
  npx adamant import stones.csv --user jane@example.com`

const collected = (word: string, before: readonly string[]) => [...before, word]

async function importStones(open: Open, given: string, options: ImportOptions): Promise<void> {
  const started = performance.now()
  const mapping = readMapping(options.map)
  await withSource(given, (file) =>
    withInstallation(open, async (installation) => {
      const { account } = await accountOf(installation.store, options.user)
      const sheet = await openSpreadsheet(file, options.ignoreUnknown === true ? 'ignored' : 'refused', mapping)
      note(described(sheet))
      const { good, bad } = await check(sheet)
      for (const { line, problems } of bad) note(`line ${line}: ${problems.join('; ')}`)
      const result = (created: number) => ({
        created,
        refused: bad.length,
        mapping: mappingOf(sheet),
        imported: created,
        bad,
      })
      if (bad.length > 0 && options.skipBad !== true) {
        if (options.json === true) printResult(options, result(0), '')
        throw new Failed(
          `${count(bad.length)} of ${count(good + bad.length)} lines can not be used; nothing was written`,
        )
      }
      if (options.dryRun === true) {
        return printResult(options, result(0), `${count(good)} stones can be imported; nothing was written`)
      }
      await write(installation, account, readSpreadsheet(sheet), good)
      const seconds = (performance.now() - started) / 1000
      const left = bad.length === 0 ? '' : `, ${count(bad.length)} lines left out`
      printResult(options, { ...result(good), seconds }, `imported ${count(good)} stones of ${options.user}${left}`)
    }),
  )
}

/** Each column with the field that it is; null for one that is left out. */
const mappingOf = ({ header, columns }: Spreadsheet): Record<string, string | null> =>
  Object.fromEntries(header.map((heading, index) => [heading, columns[index] ?? null]))

/** How a file is understood, for a person to check. */
function described(sheet: Spreadsheet): string {
  const { encoding, delimiter } = sheet.form
  const columns = Object.entries(mappingOf(sheet)).map(([heading, field]) =>
    field === null ? `${heading} is left out` : heading === field ? heading : `${heading} is ${field}`,
  )
  const comma = sheet.comma === 'decimal' ? ', decimal comma' : ''
  return `columns: ${columns.join(', ')} (${encoding}, separated by ${SEPARATORS[delimiter]}${comma})`
}

const SEPARATORS = { ',': 'commas', ';': 'semicolons', '\t': 'tabs' } as const

/** A file is read three times: stdin is kept in one while it is worked with. */
async function withSource(given: string, work: (file: string) => Promise<void>): Promise<void> {
  if (given !== '-') return work(given)
  const folder = await mkdtemp(join(tmpdir(), 'adamant-import-'))
  try {
    const file = join(folder, 'stdin.csv')
    await pipeline(process.stdin, createWriteStream(file, { mode: 0o600 }))
    await work(file)
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** Reads the whole file before anything is written. */
async function check(sheet: Spreadsheet): Promise<{ good: number; bad: BadLine[] }> {
  const bad: BadLine[] = []
  let good = 0
  for await (const line of readSpreadsheet(sheet)) {
    if ('stone' in line) good++
    else bad.push(line)
  }
  return { good, bad }
}

async function write(
  installation: Installation,
  owner: number,
  lines: ReturnType<typeof readSpreadsheet>,
  total: number,
): Promise<void> {
  const { store, clock } = installation.writing
  const origin = operator()
  const diamondIds = new IdBlocks({ store, clock, kind: 'diamond', size: BULK, origin })
  const inventory: Inventory = { ...installation.writing, diamondIds }
  const signal = listenForStop()
  const bar = progressBar('importing', total, 'stones')
  let written = 0
  let position: From = 'start'
  for await (const { stones, lastLine } of bulksOf(lines)) {
    const created = await createDiamonds(inventory, { owner, entries: stones, origin })
    position = created.position ?? position
    bar.update((written += stones.length))
    stopWhenAsked(signal, written, total, lastLine)
  }
  bar.end()
  await awaitReadModels(installation, position)
}

/** A bulk is written whole or not at all, so that the line to go on from is known. */
function stopWhenAsked(signal: StopSignal, written: number, total: number, line: number): void {
  if (!signal.came || written === total) return
  throw new Failed(`Stopped: ${count(written)} of ${count(total)} stones were written, those up to line ${line}`)
}

async function* bulksOf(
  lines: ReturnType<typeof readSpreadsheet>,
): AsyncGenerator<{ stones: NewDiamond[]; lastLine: number }> {
  let stones: NewDiamond[] = []
  let lastLine = 1
  for await (const line of lines) {
    if (!('stone' in line)) continue
    stones.push(line.stone)
    lastLine = line.line
    if (stones.length < BULK) continue
    yield { stones, lastLine }
    stones = []
  }
  if (stones.length > 0) yield { stones, lastLine }
}
