/**
 * Random clients against two processes of the service, while faults strike; what clients were told is held to what a
 * service promises (history/check.ts). `npm run test:faults -- --help` says how to choose.
 */
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { ENGINE_COMBINATIONS } from '../../engines.ts'

const HELP = `npm run test:faults -- [--seed N] [--seconds N | --minutes N] [--clients N] [--only NAME]... [--engines NAME] [--json]

  --seed      the choices of an earlier run: every run prints its own
  --seconds   that clients work in each run (30), or --minutes
  --clients   at work beside each other (12; 24 in the soak)
  --only      one of the runs below; may be given several times
  --engines   ${ENGINE_COMBINATIONS.join(', ')}: those of the service, for runs that don't bring their own
  --json      the figures of each run in one line of JSON

Runs:`

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seconds: { type: 'string' },
    minutes: { type: 'string' },
    clients: { type: 'string' },
    only: { type: 'string', multiple: true, default: [] },
    engines: { type: 'string' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

function usage(fault: string): never {
  console.error(fault)
  process.exit(2)
}

/** @returns the flag's number, where it is given */
function numberOf(flag: 'seed' | 'seconds' | 'minutes' | 'clients'): number | undefined {
  const text = values[flag]
  if (text === undefined) return undefined
  const number = Number(text)
  if (text.trim() === '' || !(number > 0 || (flag === 'seed' && number === 0)))
    usage(`--${flag} must be a number above 0, got ${text}`)
  return number
}

const { engines } = values
if (engines !== undefined && !ENGINE_COMBINATIONS.some((known) => known === engines)) {
  usage(`--engines must be one of ${ENGINE_COMBINATIONS.join(', ')}, got ${engines}`)
}
// What starts services reads it, as with `npm test -- --engines`.
if (engines !== undefined) process.env['ENGINES'] = engines

const { RUNS } = await import('./runs.ts')
const { CannotBeHad } = await import('./surroundings.ts')
const { SEED } = await import('../../seeded.ts')

const names = Object.keys(RUNS)
if (values.help) {
  console.log([HELP, ...Object.entries(RUNS).map(([name, { about }]) => `  ${name.padEnd(18)} ${about}`)].join('\n'))
  process.exit(0)
}
const unknown = values.only.find((name) => !names.includes(name))
if (unknown !== undefined) usage(`--only must be one of ${names.join(', ')}, got ${unknown}`)

const seed = numberOf('seed') ?? (process.env['SEED'] === undefined ? randomInt(1_000_000) : SEED)
const minutes = numberOf('minutes')
const seconds = numberOf('seconds') ?? (minutes === undefined ? undefined : minutes * 60)
const clients = numberOf('clients')
let passed = 0
let failed = 0

for (const [name, { run }] of Object.entries(RUNS)) {
  if (values.only.length > 0 && !values.only.includes(name)) continue
  console.log(`--- ${name}, seed ${seed}`)
  try {
    const { told, figures } = await run({
      seed,
      ...(seconds !== undefined && { seconds }),
      ...(clients !== undefined && { clients }),
    })
    console.log(values.json ? JSON.stringify({ run: name, seed, ...figures }) : told)
    passed++
  } catch (error) {
    if (error instanceof CannotBeHad) {
      console.log(`LEFT OUT: ${name}: ${error.message}`)
      continue
    }
    failed++
    console.log(`FAIL ${name}: ${error instanceof Error ? error.message : String(error)}`)
    console.log(`     again: npm run test:faults -- --only '${name}' --seed ${seed}`)
  }
}
// What a fault leaves open must not keep this process, and a pipe that is full must not cost it the last line.
process.stdout.write(`${passed} passed, ${failed} failed\n`, () => process.exit(failed === 0 && passed > 0 ? 0 : 1))
