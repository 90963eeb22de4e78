import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { attack } from './attack/attack.ts'
import { longestBlock } from './attack/longest-block.ts'
import { measureImport } from './stock/import.ts'
import { measureStock } from './stock/stock.ts'
import { GROUPS } from './cases/all.ts'
import { ceiling } from './cases/engines/ceiling.ts'
import { eventStore } from './cases/engines/event-store.ts'
import { fence } from './cases/engines/fence.ts'
import { mongodb } from './cases/engines/mongodb.ts'
import { readModels } from './cases/engines/read-models.ts'
import { onServers } from './cases/engines/service.ts'
import type { Bench, Case, CaseGroup } from './group.ts'
import { LoadGenerator } from './load/generator.ts'
import { summarize, toMarkdownTable, type ResultRow, type CaseRounds } from './report.ts'
import { startAdamant } from './services/adamant.ts'
import { buildBaseline, startBaseline } from './services/baseline.ts'
import type { MeasuredService } from './services/service.ts'

const USAGE = `npm run bench -- [--case NAME]... [--secrets] [--engines] [--rounds N] [--seconds N] [--against FOLDER]
npm run bench -- --longest-block
npm run bench -- --attack MINUTES
npm run bench -- --stock STONES
npm run bench -- --import STONES
Groups of cases: ${GROUPS.map(({ name, isLong }) => (isLong ? `${name} (only when named)` : name)).join(', ')}`

const ENGINE_GROUPS = [eventStore, ceiling, readModels, mongodb, fence, ...onServers].map(({ name }) => name)

/** A measurement without cases. */
type OtherMeasurement = { readonly run: () => Promise<boolean> }

type Options = {
  readonly groups: readonly CaseGroup[]
  readonly rounds: number
  readonly seconds: number
  /** Another build of this service, to compare with instead of the plain service. */
  readonly against: string | undefined
}

const OPTIONS = {
  case: { type: 'string', multiple: true },
  secrets: { type: 'boolean' },
  engines: { type: 'boolean' },
  rounds: { type: 'string', default: '5' },
  seconds: { type: 'string', default: '3' },
  against: { type: 'string' },
  'longest-block': { type: 'boolean' },
  attack: { type: 'string' },
  stock: { type: 'string' },
  import: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const

/** @throws Error whose message includes the usage */
function readOptions(): Options | OtherMeasurement | 'help' {
  const { values } = parseArguments()
  if (values.help === true) return 'help'
  const against = values.against === undefined ? undefined : resolve(values.against, 'dist/main.js')
  if (values['longest-block'] === true) return { run: longestBlock }
  if (values.attack !== undefined) {
    const minutes = parsePositive('attack', values.attack)
    return { run: () => attack(minutes) }
  }
  if (values.stock !== undefined) {
    const stones = parsePositive('stock', values.stock)
    return { run: () => measureStock(stones, against) }
  }
  if (values.import !== undefined) {
    const stones = parsePositive('import', values.import)
    return { run: () => measureImport(stones, against) }
  }
  const names =
    values.case ??
    (values.secrets === true ? ['secrets'] : undefined) ??
    (values.engines === true ? ENGINE_GROUPS : undefined) ??
    GROUPS.filter((group) => !group.isLong).map(({ name }) => name)
  const groups = names.map((name) => {
    const group = GROUPS.find((each) => each.name === name)
    if (group === undefined) throw new Error(`there is no group of cases ${name}\n${USAGE}`)
    return group
  })
  return {
    groups,
    rounds: parsePositive('rounds', values.rounds),
    seconds: parsePositive('seconds', values.seconds),
    against,
  }
}

function parseArguments() {
  try {
    return parseArgs({ options: OPTIONS })
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`, { cause: error })
  }
}

function parsePositive(name: string, text: string): number {
  const value = Number(text)
  if (!(value > 0)) throw new Error(`--${name} must be a number greater than 0, got ${text}\n${USAGE}`)
  return value
}

/** Rounds that do not count. On one core it takes some seconds until both sides' hot functions are compiled. */
const WARM_UP_ROUNDS = 2

/** A build may be 3 % slower than another one. */
const TARGETS_AGAINST_BUILD = { 'requests/s': { min: 0.97 }, us: { max: 1.03 }, MB: { max: 1.03 } } as const

/** Alternates which side goes first. */
async function runCase(benchCase: Case, rounds: number): Promise<CaseRounds> {
  const ours: number[] = []
  const baseline: number[] = []
  for (let round = 0; round < WARM_UP_ROUNDS + rounds; round++) {
    const sides = [
      async () => ours.push(await benchCase.ours()),
      async () => benchCase.baseline && baseline.push(await benchCase.baseline()),
    ]
    if (round % 2 === 1) sides.reverse()
    for (const measureSide of sides) await measureSide()
    process.stderr.write(
      `${benchCase.name}: ${round < WARM_UP_ROUNDS ? 'warm' : `round ${round + 1 - WARM_UP_ROUNDS} of ${rounds}`}\n`,
    )
  }
  return { benchCase, ours: ours.slice(WARM_UP_ROUNDS), baseline: baseline.slice(WARM_UP_ROUNDS) }
}

async function runGroup(
  group: CaseGroup,
  generator: LoadGenerator,
  { rounds, seconds, against }: Options,
): Promise<ResultRow[]> {
  const cleanups: (() => Promise<void>)[] = []
  const stoppedAfterGroup = async <S extends MeasuredService>(starts: Promise<S>): Promise<S> => {
    const service = await starts
    cleanups.push(() => service.stop())
    return service
  }
  const bench: Bench = {
    generator,
    seconds,
    adamant: (settings) => stoppedAfterGroup(startAdamant(settings)),
    baseline: (settings) =>
      stoppedAfterGroup(against === undefined ? startBaseline(settings) : startAdamant(settings, against)),
    finally: (cleanup) => void cleanups.push(cleanup),
  }
  try {
    const results: ResultRow[] = []
    for (const prepared of await group.prepare(bench)) {
      const each = against === undefined ? prepared : { ...prepared, target: TARGETS_AGAINST_BUILD[prepared.unit] }
      results.push(summarize(await runCase(each, rounds)))
    }
    return results
  } finally {
    for (const cleanup of cleanups.reverse()) await cleanup()
  }
}

async function main(): Promise<void> {
  const options = readOptions()
  if (options === 'help') return console.log(USAGE)
  if ('run' in options) {
    if (!(await options.run())) process.exitCode = 1
    return
  }
  if (options.against === undefined) buildBaseline()
  const generator = await LoadGenerator.start()
  try {
    const results: ResultRow[] = []
    for (const group of options.groups) results.push(...(await runGroup(group, generator, options)))
    console.log(toMarkdownTable(results))
    if (results.some(({ ok }) => ok === false)) process.exitCode = 1
  } finally {
    generator.stop()
  }
}

await main()
