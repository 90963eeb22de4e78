import { parseArgs } from 'node:util'
import { GROUPS } from './cases/all.ts'
import type { Bench, Case, Group } from './group.ts'
import { Generator } from './load/generator.ts'
import { lineOf, table, type Line, type Rounds } from './report.ts'
import { startAdamant } from './services/adamant.ts'
import { buildPlain, startPlain } from './services/plain.ts'
import type { Service } from './services/service.ts'

const USAGE = `npm run bench -- [--case NAME]... [--secrets] [--rounds N] [--seconds N]
Groups of cases: ${GROUPS.map(({ name, long }) => (long ? `${name} (only when named)` : name)).join(', ')}`

type Options = { readonly groups: readonly Group[]; readonly rounds: number; readonly seconds: number }

function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      case: { type: 'string', multiple: true },
      secrets: { type: 'boolean' },
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '3' },
    },
  })
  const names =
    values.case ??
    (values.secrets === true ? ['secrets'] : undefined) ??
    GROUPS.filter((group) => !group.long).map(({ name }) => name)
  const groups = names.map((name) => {
    const group = GROUPS.find((each) => each.name === name)
    if (group === undefined) throw new Error(`no case ${name}\n${USAGE}`)
    return group
  })
  return { groups, rounds: positive('rounds', values.rounds), seconds: positive('seconds', values.seconds) }
}

function positive(name: string, text: string): number {
  const value = Number(text)
  if (!(value > 0)) throw new Error(`--${name} must be a number over 0, got ${text}\n${USAGE}`)
  return value
}

/** One round that does not count warms both sides up; then the sides take turns, the first of them alternating. */
async function runCase(of: Case, rounds: number): Promise<Rounds> {
  const ours: number[] = []
  const other: number[] = []
  for (let round = 0; round <= rounds; round++) {
    const turns = [async () => ours.push(await of.ours()), async () => of.other && other.push(await of.other())]
    if (round % 2 === 1) turns.reverse()
    for (const turn of turns) await turn()
    process.stderr.write(`${of.name}: ${round === 0 ? 'warm' : `round ${round} of ${rounds}`}\n`)
  }
  return { of, ours: ours.slice(1), other: other.slice(1) }
}

async function runGroup(group: Group, generator: Generator, { rounds, seconds }: Options): Promise<Line[]> {
  const services: Service[] = []
  const kept = async <S extends Service>(starting: Promise<S>): Promise<S> => {
    const service = await starting
    services.push(service)
    return service
  }
  const bench: Bench = {
    generator,
    seconds,
    adamant: (settings) => kept(startAdamant(settings)),
    plain: () => kept(startPlain()),
  }
  try {
    const lines: Line[] = []
    for (const each of await group.prepare(bench)) lines.push(lineOf(await runCase(each, rounds)))
    return lines
  } finally {
    for (const service of services) await service.stop()
  }
}

async function main(): Promise<void> {
  const options = readOptions()
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
