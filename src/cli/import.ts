import { Command } from 'commander'
import { createDiamonds } from '../commands/diamonds/create-diamonds.ts'
import { IdBlocks } from '../commands/installation/integer-ids.ts'
import type { Inventory } from '../commands/diamonds/diamonds.ts'
import { accountOf } from '../commands/accounts/accounts.ts'
import type { NewDiamond } from '../domain/diamond/fields.ts'
import type { Installation } from '../wiring/installation.ts'
import type { From } from '../stores/ports/event-store.ts'
import { Failed } from './failure.ts'
import { readSpreadsheet } from './import/spreadsheet.ts'
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
}

type BadLine = { readonly line: number; readonly problems: readonly string[] }

/** `import`: stones from a spreadsheet. */
export function importCommand(open: Open): Command {
  return new Command('import')
    .description('create the diamonds of a spreadsheet, whose header names v4 fields in any case')
    .argument('<file>', '.csv or .csv.gz')
    .requiredOption('--user <email>', 'the account that owns them')
    .option('--skip-bad', 'leave out the lines that can not be used; without it one such line stops the import')
    .option('--ignore-unknown', 'leave out columns that are no v4 fields')
    .option('--json', 'print one line of JSON')
    .addHelpText('after', EXAMPLE)
    .action((file: string, options: ImportOptions) => importStones(open, file, options))
}

const EXAMPLE = `
Example:
  printf 'sku,cutShape,carat,color\\nA-1,Round,0.71,G\\n' > stones.csv
  npx adamant import stones.csv --user jane@example.com`

async function importStones(open: Open, file: string, options: ImportOptions): Promise<void> {
  const unknown = options.ignoreUnknown === true ? 'ignored' : 'refused'
  const started = performance.now()
  await withInstallation(open, async (installation) => {
    const { account } = await accountOf(installation.store, options.user)
    const { good, bad } = await check(file, unknown)
    for (const { line, problems } of bad) note(`line ${line}: ${problems.join('; ')}`)
    if (bad.length > 0 && options.skipBad !== true) {
      if (options.json === true) printResult(options, { imported: 0, bad }, '')
      throw new Failed(`${count(bad.length)} of ${count(good + bad.length)} lines can not be used; nothing was written`)
    }
    await write(installation, account, readSpreadsheet(file, unknown), good)
    const seconds = (performance.now() - started) / 1000
    const left = bad.length === 0 ? '' : `, ${count(bad.length)} lines left out`
    printResult(options, { imported: good, bad, seconds }, `imported ${count(good)} stones of ${options.user}${left}`)
  })
}

/** Reads the whole file before anything is written. */
async function check(file: string, unknown: 'refused' | 'ignored'): Promise<{ good: number; bad: BadLine[] }> {
  const bad: BadLine[] = []
  let good = 0
  for await (const line of readSpreadsheet(file, unknown)) {
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
