import { parseArgs } from 'node:util'
import { attack } from './attack/attack.ts'
import { longestBlock } from './attack/longest-block.ts'
import { GROUPS } from './cases/all.ts'
import { ceiling } from './cases/engines/ceiling.ts'
import { eventStore } from './cases/engines/event-store.ts'
import { fence } from './cases/engines/fence.ts'
import { mongodb } from './cases/engines/mongodb.ts'
import { readModels } from './cases/engines/read-models.ts'
import { onServers } from './cases/engines/service.ts'
import type { Bench, Case, Group } from './group.ts'
import { Generator } from './load/generator.ts'
import { lineOf, table, type Line, type Rounds } from './report.ts'
import { startAdamant } from './services/adamant.ts'
import { buildPlain, startPlain } from './services/plain.ts'
import type { Service } from './services/service.ts'

const USAGE = `npm run bench -- [--case NAME]... [--secrets] [--engines] [--rounds N] [--seconds N]
npm run bench -- --longest-block
npm run bench -- --attack MINUTES
Groups of cases: ${GROUPS.map(({ name, long }) => (long ? `${name} (only when named)` : name)).join(', ')}`

const ENGINES = [eventStore, ceiling, readModels, mongodb, fence, ...onServers].map(({ name }) => name)

/** A measurement without cases. */
type Other = { readonly run: () => Promise<boolean> }

type Options = { readonly groups: readonly Group[]; readonly rounds: number; readonly seconds: number }

const OPTIONS = {
  case: { type: 'string', multiple: true },
  secrets: { type: 'boolean' },
  engines: { type: 'boolean' },
  rounds: { type: 'string', default: '5' },
  seconds: { type: 'string', default: '3' },
  'longest-block': { type: 'boolean' },
  attack: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const

/** @throws Error whose message includes the usage */
function readOptions(): Options | Other | 'help' {
  const { values } = given()
  if (values.help === true) return 'help'
  if (values['longest-block'] === true) return { run: longestBlock }
  if (values.attack !== undefined) {
    const minutes = positive('attack', values.attack)
    return { run: () => attack(minutes) }
  }
  const names =
    values.case ??
    (values.secrets === true ? ['secrets'] : undefined) ??
    (values.engines === true ? ENGINES : undefined) ??
    GROUPS.filter((group) => !group.long).map(({ name }) => name)
  const groups = names.map((name) => {
    const group = GROUPS.find((each) => each.name === name)
    if (group === undefined) throw new Error(`there is no group of cases ${name}\n${USAGE}`)
    return group
  })
  return { groups, rounds: positive('rounds', values.rounds), seconds: positive('seconds', values.seconds) }
}

function given() {
  try {
    return parseArgs({ options: OPTIONS })
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`, { cause: error })
  }
}

function positive(name: string, text: string): number {
  const value = Number(text)
  if (!(value > 0)) throw new Error(`--${name} must be a number greater than 0, got ${text}\n${USAGE}`)
  return value
}

/** Rounds that do not count. On one core it takes some seconds until both sides' hot functions are compiled. */
const WARM_ROUNDS = 2

/** Alternates which side goes first. */
async function runCase(of: Case, rounds: number): Promise<Rounds> {
  const ours: number[] = []
  const other: number[] = []
  for (let round = 0; round < WARM_ROUNDS + rounds; round++) {
    const turns = [async () => ours.push(await of.ours()), async () => of.other && other.push(await of.other())]
    if (round % 2 === 1) turns.reverse()
    for (const turn of turns) await turn()
    process.stderr.write(
      `${of.name}: ${round < WARM_ROUNDS ? 'warm' : `round ${round + 1 - WARM_ROUNDS} of ${rounds}`}\n`,
    )
  }
  return { of, ours: ours.slice(WARM_ROUNDS), other: other.slice(WARM_ROUNDS) }
}

async function runGroup(group: Group, generator: Generator, { rounds, seconds }: Options): Promise<Line[]> {
  const ends: (() => Promise<void>)[] = []
  const kept = async <S extends Service>(starting: Promise<S>): Promise<S> => {
    const service = await starting
    ends.push(() => service.stop())
    return service
  }
  const bench: Bench = {
    generator,
    seconds,
    adamant: (settings) => kept(startAdamant(settings)),
    plain: () => kept(startPlain()),
    finally: (end) => void ends.push(end),
  }
  try {
    const lines: Line[] = []
    for (const each of await group.prepare(bench)) lines.push(lineOf(await runCase(each, rounds)))
    return lines
  } finally {
    for (const end of ends.reverse()) await end()
  }
}

async function main(): Promise<void> {
  const options = readOptions()
  if (options === 'help') return console.log(USAGE)
  if ('run' in options) {
    if (!(await options.run())) process.exitCode = 1
    return
  }
  buildPlain()
  const generator = await Generator.start()
  try {
    const lines: Line[] = []
    for (const group of options.groups) lines.push(...(await runGroup(group, generator, options)))
    console.log(table(lines))
    if (lines.some(({ ok }) => ok === false)) process.exitCode = 1
  } finally {
    generator.stop()
  }
}

await main()
