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
import { SeededRandom } from '../../seeded.ts'
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
const FAULT_INTERVAL_MS = [400, 1_600] as const
/** Milliseconds for which a token may be accepted after its end with a log on a server: until the session feed reads it. */
const GRACE_MS = 5_000
/** Number of stones that are read singly from each process at the end. */
const SINGLE_READS = 150
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
        figures = await runClients(workload, processes, environment, { ...accounts, vendorAt: annAt })
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

async function runClients(
  workload: Workload,
  processes: Processes,
  environment: RunEnvironment,
  accounts: Pick<World, 'person' | 'sender' | 'vendorAt'>,
): Promise<Figures> {
  const record = new RunRecord()
  const startedAt = performance.now()
  const occurrences = new Map<string, number>()
  const { duration } = workload
  const isDone = () =>
    'seconds' in duration
      ? performance.now() > startedAt + duration.seconds * 1000
      : [...occurrences.values()].reduce((sum, count) => sum + count, 0) >= duration.faults
  const isOver = () => isDone() || record.unexpected.length > 0
  let number = 0
  const world: World = {
    ...accounts,
    record,
    urls: processes.urls,
    stones: [],
    keptSecrets: [],
    number: () => ++number,
    isOver,
  }
  const clients = Array.from({ length: workload.clients }, (_, index) => ({
    number: index + 1,
    world,
    random: new SeededRandom(workload.seed * 1_000 + index + 1),
  }))
  const follower = new Consumer()
  await Promise.all([
    ...clients.map(runClient),
    follow(world, follower),
    injectFaults(workload, { processes, environment, isOver, occurrences }),
    watch(workload, processes, isOver, startedAt),
  ])
  const seconds = (performance.now() - startedAt) / 1000
  await recordFinalState(world, processes, follower)
  if (environment.mailServer) await waitForMails(world, environment.mailServer.texts)
  await readKeptSecrets(world)
  const grace = areEmbedded && !environment.servers ? 0 : GRACE_MS
  const violated = violationsOf({ operations: record.operations, grace }).map(
    ({ rule, description }) => `${rule}: ${description}`,
  )
  const violations = [...record.unexpected.map((description) => `unexpected: ${description}`), ...violated]
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
const runClient = (client: Client): Promise<void> =>
  client.number % 8 === 7 ? useSecrets(client) : client.number % 8 === 0 ? useTokens(client) : useInventory(client)

async function injectFaults(
  { seed, faults }: Workload,
  given: { processes: Processes; environment: RunEnvironment; isOver: () => boolean; occurrences: Map<string, number> },
): Promise<void> {
  const random = new SeededRandom(seed)
  while (faults.length > 0) {
    await pace(random.between(...FAULT_INTERVAL_MS))
    if (given.isOver()) return
    const name = random.pick(faults)
    if (name === undefined) return
    await faultOf(name).inject({ ...given, random })
    given.occurrences.set(name, (given.occurrences.get(name) ?? 0) + 1)
  }
}

async function watch(
  workload: Workload,
  processes: Processes,
  isOver: () => boolean,
  startedAt: number,
): Promise<void> {
  if (workload.watch === undefined) return
  while (!isOver()) {
    await pace(1_000)
    workload.watch(processes, (performance.now() - startedAt) / 1000)
  }
}

/** Maintains an inventory by reading only the feed of changes. */
async function follow(world: World, consumer: Consumer): Promise<void> {
  while (!world.isOver()) {
    const [url] = world.urls()
    const reply = await world.record.send(0, () =>
      world.vendorAt(url).get(`/v4/diamond/changes?wait=1&${consumer.query(200)}`),
    )
    if (reply.outcome === 'done' && reply.response)
      consumer.take(reply.response.json() as Parameters<Consumer['take']>[0])
    else await pace(50)
  }
}

/** Records the lists, single reads and feed of each process after the last write and the last fault. */
async function recordFinalState(world: World, processes: Processes, consumer: Consumer): Promise<void> {
  const client = { world, number: 0 }
  for (let index = 0; index < processes.count; index++) {
    const ann = world.vendorAt(processes.at(index).url)
    await until(`process ${index + 1} to list what was written`, async () => {
      const response = await ann.get('/v4/diamond?limit=1')
      return response.status < 300 && response.headers['x-consistency'] === undefined
    })
    for (const version of ['v3', 'v4']) {
      const startedAt = performance.now()
      const { total, diamonds } = await everyDiamond(ann, version)
      const operation = { client: 0, startedAt, endedAt: performance.now(), outcome: 'done' } as const
      world.record.add({ ...operation, kind: 'list', shown: diamonds.map(seenStoneOf), total })
      const sample = diamonds.filter((_, index) => index % Math.ceil(diamonds.length / SINGLE_READS) === 0)
      for (const stone of sample) await readOnce(client, stone, processes.at(index).url, version)
      for (const stone of world.stones.slice(-SINGLE_READS))
        await readOnce(client, stone, processes.at(index).url, version)
    }
  }
  const ann = world.vendorAt(processes.at(0).url)
  const startedAt = performance.now()
  await consumer.catchUp(ann)
  const shown = consumer.inventory.map(seenStoneOf)
  const operation = { client: 0, startedAt, endedAt: performance.now(), outcome: 'done' } as const
  world.record.add({ ...operation, kind: 'list', shown, total: shown.length })
}

/** Waits until the links of all kept secrets were mailed. */
async function waitForMails({ keptSecrets }: World, texts: () => readonly string[]): Promise<void> {
  await until('every mail', () => {
    const all = texts().join('\n')
    return keptSecrets.every(({ key, mailed }) => !mailed || all.includes(key))
  })
}

/** Reads each kept secret twice, through different processes: exactly one read must succeed. */
async function readKeptSecrets(world: World): Promise<void> {
  for (const [index, { secret, key }] of world.keptSecrets.entries()) {
    const urls = world.urls()
    await reveal({ world, number: 0 }, secret, key, urls[index % urls.length] ?? urls[0])
    await reveal({ world, number: 0 }, secret, key, urls[(index + 1) % urls.length] ?? urls[0])
  }
}
