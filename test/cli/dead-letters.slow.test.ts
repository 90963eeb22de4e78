import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { toEventMetadata } from '../../src/events/event-metadata.ts'
import { diamonds } from '../../src/projections/diamonds/diamonds.ts'
import type { StoredEvent } from '../../src/stores/ports/event-store.ts'
import { origin, vendorOf, project } from '../projections/engine/inventory-on-disk.ts'
import { openStores, type Stores } from '../open-stores.ts'
import { until } from '../until.ts'
import { CommandLine } from './command-line.ts'

type Context = { commands: CommandLine }
const test = suite<Context>('dead-letters')
test.before.each(async (context) => {
  context.commands = await CommandLine.onEngines()
})
test.after.each(({ commands }) => commands.remove())

/** Prepares the stores of a new installation before the program runs. */
async function prepareStores(commands: CommandLine, work: (stores: Stores) => Promise<void>): Promise<void> {
  await commands.json('user', 'add', 'a@example.com', '--password', 'right horse')
  const stores = await openStores(commands.dataDir)
  await work(stores)
  await stores.close()
}

/** Parks a stream whose last event this release can fold, as if an older release had failed to fold it. */
async function parkStream({ store, reads }: Stores, stream: string): Promise<void> {
  const build = await reads.live(diamonds.declaration)
  const checkpoint = await build.checkpoint()
  const [event] = await store.readStream(stream, { last: 1 })
  if (checkpoint === undefined || event === undefined) throw new Error('nothing was projected')
  const { id, revision, position, type } = event
  await build.write([], checkpoint, [{ stream, revision, position, event: id, type, reason: 'Error: an old fault' }])
}

/** Appends an event of a newer release. */
const appendNewerEvent = (store: Stores['store'], stream: string, expected: StoredEvent['revision']) =>
  store.append(stream, expected, [
    {
      id: randomUUID(),
      type: 'DiamondPatched',
      data: { set: { price: 9 }, removed: [] },
      metadata: toEventMetadata(origin, Date.now(), '7'),
    },
  ])

test('retry makes the running service fold the parked streams again, and reports those that still fail', async ({
  commands,
}) => {
  await prepareStores(commands, async (stores) => {
    const [a = 0, b = 0] = await vendorOf(stores.store).create(3)
    await appendNewerEvent(stores.store, `diamond-${b}`, 0n)
    await project(stores)
    await parkStream(stores, `diamond-${a}`)
  })
  const server = commands.start(['serve', '--json'])
  await server.line()

  // Each model parks streams independently: diamonds may have read the newer event before scoring does.
  let deadLetters: Record<string, unknown>[] = []
  await until('each model to park the streams that it cannot fold', async () => {
    deadLetters = (await commands.json('dead-letters', 'list'))['deadLetters'] as Record<string, unknown>[]
    return deadLetters.length === 3
  })
  assert.equal(
    deadLetters.map(({ model, stream, revision, type }) => [model, stream, revision, type]),
    [
      ['diamonds', 'diamond-1', 0, 'DiamondCreated'],
      ['diamonds', 'diamond-2', 1, 'DiamondPatched'],
      ['scoring', 'diamond-2', 1, 'DiamondPatched'],
    ],
  )
  const retry = await commands.run(['dead-letters', 'retry', '--json'])
  assert.is(retry.code, 1)
  const reason = 'NewerSchema: DiamondPatched in diamond-2 has schema 7; this release reads up to 2'
  assert.equal(JSON.parse(retry.out), {
    freed: [{ model: 'diamonds', stream: 'diamond-1' }],
    left: [
      { model: 'diamonds', stream: 'diamond-2', reason },
      { model: 'scoring', stream: 'diamond-2', reason },
    ],
  })
  assert.match(retry.err, /retrying 3 of 3 streams/)
  const models = (await commands.json('status'))['models'] as Record<string, unknown>[]
  assert.ok(models.length > 1)
  for (const { model, deadLetters } of models) assert.is(deadLetters, model === 'diamonds' ? 1 : 0, String(model))
  const [request] = (await commands.run(['events', 'retries-diamonds', '--json'])).out.trim().split('\n')
  assert.is((JSON.parse(request ?? '') as { actor: unknown }).actor, 'operator')
})

test('retry of one stream frees only that stream', async ({ commands }) => {
  await prepareStores(commands, async (stores) => {
    const [a = 0, b = 0] = await vendorOf(stores.store).create(2)
    await project(stores)
    for (const id of [a, b]) await parkStream(stores, `diamond-${id}`)
  })
  await commands.start(['serve', '--json']).line()
  assert.equal((await commands.json('dead-letters', 'retry', 'diamonds', 'diamond-2'))['left'], [])
  const { out } = await commands.run(['dead-letters', 'list'])
  assert.match(out, /diamond-1@0/)
  assert.not.match(out, /diamond-2@/)
})

test('retry without a running service fails with a message, and requests no retry', async ({ commands }) => {
  await prepareStores(commands, async (stores) => {
    await vendorOf(stores.store).create(1)
    await project(stores)
    await parkStream(stores, 'diamond-1')
  })
  const { code, err } = await commands.run(['dead-letters', 'retry'])
  assert.is(code, 1)
  assert.match(err, /start the service/)
  assert.is((await commands.run(['events', 'retries-diamonds'])).out, '')
})

test('rejects an unknown model, and a stream that is not parked', async ({ commands }) => {
  await prepareStores(commands, async () => undefined)
  assert.equal(await commands.json('dead-letters', 'list'), { deadLetters: [] })
  assert.equal(await commands.json('dead-letters', 'retry'), { freed: [], left: [] })
  assert.is((await commands.run(['dead-letters', 'list', 'diamond'])).code, 2)
  const { code, err } = await commands.run(['dead-letters', 'retry', 'diamonds', 'diamond-1'])
  assert.is(code, 1)
  assert.match(err, 'diamond-1 is not parked')
})

test.run()
