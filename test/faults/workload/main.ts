/**
 * Runs random clients against two processes of the service during faults, and checks the responses against the service's
 * guarantees (history/check.ts). `npm run test:faults -- --help` shows the options.
 */
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { ENGINE_COMBINATIONS } from '../../engines.ts'

const HELP = `npm run test:faults -- [--seed N] [--seconds N | --minutes N] [--clients N] [--only NAME]... [--engines NAME] [--json]

  --seed      repeats the choices of an earlier run, which prints its seed
  --seconds   duration of each run (30), or --minutes
  --clients   number of concurrent clients (12; 24 in the soak)
  --only      runs only the named run; repeatable
  --engines   ${ENGINE_COMBINATIONS.join(', ')}: engines of the service, for runs without their own
  --json      prints the figures of each run as one line of JSON

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

/** @returns the number of a flag; undefined if it is not set */
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
// test/engines.ts reads this variable when it starts services.
if (engines !== undefined) process.env['ENGINES'] = engines

const { RUNS } = await import('./runs.ts')
const { MissingRequirement } = await import('./environment.ts')
const { SEED } = await import('../../seeded.ts')

const names = Object.keys(RUNS)
if (values.help) {
  console.log(
    [HELP, ...Object.entries(RUNS).map(([name, { description }]) => `  ${name.padEnd(18)} ${description}`)].join('\n'),
  )
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
    const { summary, figures } = await run({
      seed,
      ...(seconds !== undefined && { seconds }),
      ...(clients !== undefined && { clients }),
    })
    console.log(values.json ? JSON.stringify({ run: name, seed, ...figures }) : summary)
    passed++
  } catch (error) {
    if (error instanceof MissingRequirement) {
      console.log(`LEFT OUT: ${name}: ${error.message}`)
      continue
    }
    failed++
    console.log(`FAIL ${name}: ${error instanceof Error ? error.message : String(error)}`)
    console.log(`     again: npm run test:faults -- --only '${name}' --seed ${seed}`)
  }
}
// Exits even if a fault left something open, but only after the last line was written to a pipe.
process.stdout.write(`${passed} passed, ${failed} failed\n`, () => process.exit(failed === 0 && passed > 0 ? 0 : 1))
