import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { Consumer } from '../../api/harness/feed.ts'
import { newSender, type Sender } from '../../api/harness/secrets.ts'
import { areEmbedded } from '../../engines.ts'
import { pace } from '../../pace.ts'
import { until } from '../../until.ts'
import { BUILT } from '../server-process.ts'
import { everyDiamond, withInstallation } from '../serving.ts'
import type { Client, Person, World } from './clients/client.ts'
import { readOnce, seenStoneOf, useInventory } from './clients/inventory.ts'
import { reveal, useSecrets } from './clients/secrets.ts'
import { useTokens } from './clients/tokens.ts'
import { faultOf, type FaultName } from './faults.ts'
import { figuresOf, type Figures } from './figures.ts'
import { violationsOf } from './history/check.ts'
import { newPerson } from './person.ts'
import { Processes } from './processes.ts'
import { RunRecord } from './record.ts'
import { Choices } from '../../seeded.ts'
import { withEnvironment, type RunEnvironment } from './environment.ts'

/** How long clients work: for some seconds or until a number of faults has occurred. */
export type WorkloadDuration = { readonly seconds: number } | { readonly faults: number }

export type Workload = {
  /** Determines the choices of all clients and faults, but not their interleaving. */
  readonly seed: number
  readonly clients: number
  readonly processes: number
  readonly duration: WorkloadDuration
  /** The faults that occur while clients work, one at a time, chosen at random. */
  readonly faults: readonly FaultName[]
  /** Called every second. */
  readonly watch?: (processes: Processes, seconds: number) => void
}

/** Milliseconds between two faults. */
const BETWEEN = [400, 1_600] as const
/** Milliseconds for which a token may be accepted after its end with a log on a server: until the session feed reads it. */
const GRACE = 5_000
/** Number of stones that are read singly from each process at the end. */
const SINGLY = 150
/** The most violations that are printed: one fault causes many. */
const MAX_PRINTED = 20

/**
 * Runs clients and faults, then checks the responses against the guarantees.
 * @throws Error with the violations; MissingRequirement if this machine cannot inject one of the faults
 */
export async function runWorkload(workload: Workload): Promise<Figures> {
  const faults = workload.faults.map(faultOf)
  const preloads = [...new Set(faults.flatMap(({ preload }) => preload ?? []))].flatMap((file) => ['--import', file])
  const program = [...preloads, ...BUILT]
  let figures: Figures | undefined
  await withEnvironment(faults, async (environment) => {
    let accounts: { person: Person; sender: Sender } | undefined
    await withInstallation(
      async ({ serve, annAt }) => {
        if (accounts === undefined) throw new Error('the accounts were not created')
        const processes = new Processes(() => serve({}, program))
        await processes.start(workload.processes)
        figures = await work(workload, processes, environment, { ...accounts, vendorAt: annAt })
        assert.equal(await processes.stop(), Array(workload.processes).fill(0), 'exit codes')
      },
      environment.settings,
      {
        within: environment.folder,
        prepare: async ({ installation }) =>
          void (accounts = { person: await newPerson(installation), sender: await newSender(installation, 'pro') }),
      },
    )
  })
  if (figures === undefined) throw new Error('nothing was run')
  return figures
}

async function work(
  workload: Workload,
  processes: Processes,
  environment: RunEnvironment,
  accounts: Pick<World, 'person' | 'sender' | 'vendorAt'>,
): Promise<Figures> {
  const record = new RunRecord()
  const began = performance.now()
  const occurrences = new Map<string, number>()
  const { duration } = workload
  const isDone = () =>
    'seconds' in duration
      ? performance.now() > began + duration.seconds * 1000
      : [...occurrences.values()].reduce((sum, count) => sum + count, 0) >= duration.faults
  const isOver = () => isDone() || record.unexpected.length > 0
  let number = 0
  const world: World = {
    ...accounts,
    record,
    urls: processes.urls,
    stones: [],
    kept: [],
    number: () => ++number,
    isOver,
  }
  const clients = Array.from({ length: workload.clients }, (_, at) => ({
    number: at + 1,
    world,
    choices: new Choices(workload.seed * 1_000 + at + 1),
  }))
  const following = new Consumer()
  await Promise.all([
    ...clients.map(workOf),
    follow(world, following),
    injectFaults(workload, { processes, environment, isOver, occurrences }),
    watch(workload, processes, isOver, began),
  ])
  const seconds = (performance.now() - began) / 1000
  await recordFinalState(world, processes, following)
  if (environment.mailServer) await allMailsSent(world, environment.mailServer.texts)
  await readKept(world)
  const grace = areEmbedded && !environment.servers ? 0 : GRACE
  const violated = violationsOf({ operations: record.operations, grace }).map(({ rule, what }) => `${rule}: ${what}`)
  const violations = [...record.unexpected.map((what) => `unexpected: ${what}`), ...violated]
  if (violations.length > 0) throw new Error(saveAndDescribe(workload, violations, record, processes))
  return figuresOf(record, occurrences, seconds)
}

/** Saves the violations, the history and the logs. @returns a message with the first violations and the folder */
function saveAndDescribe(
  { seed }: Workload,
  violations: readonly string[],
  { operations }: RunRecord,
  processes: Processes,
): string {
  const folder = mkdtempSync(join(tmpdir(), 'adamant-violations-'))
  writeFileSync(join(folder, 'violations.txt'), violations.join('\n'))
  writeFileSync(join(folder, 'history.jsonl'), operations.map((each) => JSON.stringify(each)).join('\n'))
  writeFileSync(join(folder, 'processes.log'), processes.output())
  return [
    `${violations.length} violations, seed ${seed}; history and logs are in ${folder}`,
    ...violations.slice(0, MAX_PRINTED),
  ].join('\n  ')
}

/** Of eight clients, six use stones, one uses secrets and one uses tokens. */
const workOf = (client: Client): Promise<void> =>
  client.number % 8 === 7 ? useSecrets(client) : client.number % 8 === 0 ? useTokens(client) : useInventory(client)

async function injectFaults(
  { seed, faults }: Workload,
  given: { processes: Processes; environment: RunEnvironment; isOver: () => boolean; occurrences: Map<string, number> },
): Promise<void> {
  const choices = new Choices(seed)
  while (faults.length > 0) {
    await pace(choices.between(...BETWEEN))
    if (given.isOver()) return
    const name = choices.one(faults)
    if (name === undefined) return
    await faultOf(name).inject({ ...given, choices })
    given.occurrences.set(name, (given.occurrences.get(name) ?? 0) + 1)
  }
}

async function watch(workload: Workload, processes: Processes, isOver: () => boolean, began: number): Promise<void> {
  if (workload.watch === undefined) return
  while (!isOver()) {
    await pace(1_000)
    workload.watch(processes, (performance.now() - began) / 1000)
  }
}

/** Maintains an inventory by reading only the feed of changes. */
async function follow(world: World, consumer: Consumer): Promise<void> {
  while (!world.isOver()) {
    const [url] = world.urls()
    const reply = await world.record.send(0, () =>
      world.vendorAt(url).get(`/v4/diamond/changes?wait=1&${consumer.query(200)}`),
    )
    if (reply.outcome === 'done' && reply.answer) consumer.take(reply.answer.json() as Parameters<Consumer['take']>[0])
    else await pace(50)
  }
}

/** Records the lists, single reads and feed of each process after the last write and the last fault. */
async function recordFinalState(world: World, processes: Processes, consumer: Consumer): Promise<void> {
  const client = { world, number: 0 }
  for (let at = 0; at < processes.count; at++) {
    const ann = world.vendorAt(processes.at(at).url)
    await until(`process ${at + 1} to list what was written`, async () => {
      const answer = await ann.get('/v4/diamond?limit=1')
      return answer.status < 300 && answer.headers['x-consistency'] === undefined
    })
    for (const version of ['v3', 'v4']) {
      const began = performance.now()
      const { total, diamonds } = await everyDiamond(ann, version)
      const operation = { client: 0, began, ended: performance.now(), outcome: 'done' } as const
      world.record.add({ ...operation, kind: 'list', shown: diamonds.map(seenStoneOf), total })
      const some = diamonds.filter((_, index) => index % Math.ceil(diamonds.length / SINGLY) === 0)
      for (const known of some) await readOnce(client, known, processes.at(at).url, version)
      for (const known of world.stones.slice(-SINGLY)) await readOnce(client, known, processes.at(at).url, version)
    }
  }
  const ann = world.vendorAt(processes.at(0).url)
  const began = performance.now()
  await consumer.catchUp(ann)
  const shown = consumer.inventory.map(seenStoneOf)
  const operation = { client: 0, began, ended: performance.now(), outcome: 'done' } as const
  world.record.add({ ...operation, kind: 'list', shown, total: shown.length })
}

/** Waits until the links of all kept secrets were mailed. */
async function allMailsSent({ kept }: World, texts: () => readonly string[]): Promise<void> {
  await until('every mail', () => {
    const all = texts().join('\n')
    return kept.every(({ key, mailed }) => !mailed || all.includes(key))
  })
}

/** Reads each kept secret twice, through different processes: exactly one read must succeed. */
async function readKept(world: World): Promise<void> {
  for (const [at, { secret, key }] of world.kept.entries()) {
    const urls = world.urls()
    await reveal({ world, number: 0 }, secret, key, urls[at % urls.length] ?? urls[0])
    await reveal({ world, number: 0 }, secret, key, urls[(at + 1) % urls.length] ?? urls[0])
  }
}
