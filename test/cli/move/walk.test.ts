import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { appendsOf, writeInOrder } from '../../../src/cli/move/write.ts'
import { Walk } from '../../../src/cli/move/walk.ts'
import type { EventStore, NewEvent, StoredEvent } from '../../../src/stores/event-store.ts'
import { openSqliteEvents } from '../../../src/stores/sqlite-events.ts'
import { all, event, rejection } from '../../contract/event-store/given.ts'
import { faultyStore } from '../../stores/faulty-store.ts'

type Context = { folder: string; source: EventStore; openTarget: () => EventStore; opened: EventStore[] }
const test = suite<Context>('a log that is copied')

test.before.each((context) => {
  context.folder = mkdtempSync(join(tmpdir(), 'adamant-walk-'))
  context.source = openSqliteEvents(join(context.folder, 'source.db'))
  context.opened = [context.source]
  context.openTarget = () => {
    const store = openSqliteEvents(join(context.folder, `${randomUUID()}.db`), { filling: true })
    context.opened.push(store)
    return store
  }
})
test.after.each(async ({ folder, opened }) => {
  await Promise.all(opened.map((store) => store.close()))
  rmSync(folder, { recursive: true })
})

/** One event on each of these streams, in this order. */
async function write(store: EventStore, streams: readonly string[]): Promise<void> {
  for (const stream of streams) {
    const [last] = await store.read(stream, { last: 1 })
    await store.append(stream, last?.revision ?? 'none', [event()])
  }
}

const shown = ({ stream, revision, id, type, data, metadata }: StoredEvent) => [
  stream,
  revision,
  id,
  type,
  data,
  metadata,
]
const everything = async (store: EventStore) => (await all(store.readAll('start'))).map(shown)
const walk = (source: EventStore, target: EventStore) => new Walk(source, target, () => undefined)
const noPair = () => undefined

test('is the same in every event and in their order, wherever it was interrupted', async ({ source, openTarget }) => {
  const streams = fc.array(fc.constantFrom('a-1', 'a-2', 'b-1'), { minLength: 1, maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(streams, fc.nat(20), async (order, done) => {
      await write(source, order)
      const events = await all(source.readAll('start'))
      const target = openTarget()
      await writeInOrder(target, appendsOf(events.slice(0, done)))

      const filled = await walk(source, target).fill()

      assert.is(filled, Math.max(0, events.length - done))
      assert.equal(await everything(target), await everything(source))
      const compared = walk(source, target)
      await compared.compare(noPair)
      assert.is(compared.events, events.length)
    }),
    { numRuns: 25 },
  )
})

test('goes on from what has come since', async ({ source, openTarget }) => {
  const target = openTarget()
  await write(source, ['a-1', 'b-1'])
  const walking = walk(source, target)
  assert.is(await walking.fill(), 3)
  await write(source, ['a-1', 'c-1'])
  assert.is(await walking.fill(), 2)
  assert.is(await walking.fill(), 0)
  assert.equal(await everything(target), await everything(source))
})

test('is written in its order and once by a store that is away, times out, and writes after all', async (context) => {
  const { source, openTarget } = context
  await write(source, ['a-1', 'b-1', 'a-1'])
  const target = faultyStore(openTarget())
  const oneByOne: EventStore = { ...target, atomicMany: false }
  target.failNext('unavailable', 'stored', 'lost')
  await walk(source, oneByOne).fill()
  assert.equal(await everything(target), await everything(source))
})

/** A target with another event in the place of the source's last one. */
async function changed({ source, openTarget }: Context, change: (event: StoredEvent) => NewEvent): Promise<EventStore> {
  await write(source, ['a-1', 'a-1'])
  const target = openTarget()
  const events = await all(source.readAll('start'))
  await writeInOrder(target, appendsOf(events.slice(0, -1)))
  const [last] = events.slice(-1)
  if (last === undefined) throw new Error('the source is empty')
  await target.append('a-1', 0n, [change(last)])
  return target
}

const changes: Readonly<Record<string, (event: StoredEvent) => NewEvent>> = {
  data: (one) => ({ ...one, data: { number: 1 } }),
  metadata: (one) => ({ ...one, metadata: { ...one.metadata, actor: 'b' } }),
  type: (one) => ({ ...one, type: 'Other' }),
  id: (one) => ({ ...one, id: randomUUID() }),
}

for (const [what, change] of Object.entries(changes)) {
  test(`is not complete where the ${what} of one event differs`, async (context) => {
    const target = await changed(context, change)
    assert.match(String(await rejection(walk(context.source, target).compare(noPair))), /At a-1@1/)
    assert.match(String(await rejection(walk(context.source, target).fill())), /At a-1@1/)
  })
}

test('is not complete where an event is missing, or one too many', async ({ source, openTarget }) => {
  await write(source, ['a-1'])
  const target = openTarget()
  await walk(source, target).fill()
  await write(source, ['b-1'])
  assert.match(String(await rejection(walk(source, target).compare(noPair))), /b-1@0.*the target does not have it/)
  await walk(source, target).fill()
  await write(target, ['c-1'])
  assert.match(String(await rejection(walk(source, target).compare(noPair))), /c-1@0.*the source does not have it/)
})

test.run()
