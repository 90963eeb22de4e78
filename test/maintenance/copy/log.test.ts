import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from '../../fast-check.ts'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { STORES_STREAM } from '../../../src/domain/installation/installation.ts'
import { appendsOf, LogCopier, writeInOrder, type LogCutoff } from '../../../src/maintenance/copy/log.ts'
import type { EventStore, NewEvent, StoredEvent } from '../../../src/stores/ports/event-store.ts'
import { openSqliteEventStore } from '../../../src/stores/sqlite/events.ts'
import { all, event, rejection } from '../../contract/event-store/given.ts'
import { faultyStore } from '../../stores/faulty-store.ts'

type Context = { folder: string; source: EventStore; openTarget: () => EventStore; opened: EventStore[] }
const test = suite<Context>('the copy of a log')

test.before.each((context) => {
  context.folder = mkdtempSync(join(tmpdir(), 'adamant-walk-'))
  context.source = openSqliteEventStore(join(context.folder, 'source.db'))
  context.opened = [context.source]
  context.openTarget = () => {
    const store = openSqliteEventStore(join(context.folder, `${randomUUID()}.db`), { isCopyTarget: true })
    context.opened.push(store)
    return store
  }
})
test.after.each(async ({ folder, opened }) => {
  await Promise.all(opened.map((store) => store.close()))
  rmSync(folder, { recursive: true })
})

/** Appends one event to each of the streams, in the given order. */
async function write(store: EventStore, streams: readonly string[]): Promise<void> {
  for (const stream of streams) {
    const [last] = await store.readStream(stream, { last: 1 })
    await store.append(stream, last?.revision ?? 'none', [event()])
  }
}

const withoutPosition = ({ stream, revision, id, type, data, metadata }: StoredEvent) => [
  stream,
  revision,
  id,
  type,
  data,
  metadata,
]
const contentOf = async (store: EventStore) => (await all(store.readAll('start'))).map(withoutPosition)
const copierOf = (source: EventStore, target: EventStore) => new LogCopier(source, target)
const ignoreProgress = () => undefined

/** Compares every event of the source. */
const compare = async (source: EventStore, target: EventStore): Promise<void> =>
  copierOf(source, target).compare((await contentOf(source)).length, ignoreProgress)

test('has the same events in the same order, wherever it was interrupted', async ({ source, openTarget }) => {
  const streams = fc.array(fc.constantFrom('a-1', 'a-2', 'b-1'), { minLength: 1, maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(streams, fc.nat(20), async (order, done) => {
      await write(source, order)
      const events = await all(source.readAll('start'))
      const target = openTarget()
      await writeInOrder(target, appendsOf(events.slice(0, done)))

      const filled = await copierOf(source, target).copyMissing(ignoreProgress)

      assert.is(filled, Math.max(0, events.length - done))
      assert.equal(await contentOf(target), await contentOf(source))
      await compare(source, target)
    }),
    { numRuns: 25 },
  )
})

test('continues with the events that were appended since', async ({ source, openTarget }) => {
  const target = openTarget()
  await write(source, ['a-1', 'b-1'])
  const walking = copierOf(source, target)
  assert.is(await walking.copyMissing(ignoreProgress), 3)
  await write(source, ['a-1', 'c-1'])
  assert.is(await walking.copyMissing(ignoreProgress), 2)
  assert.is(await walking.copyMissing(ignoreProgress), 0)
  assert.equal(await contentOf(target), await contentOf(source))
})

/** A store that counts the events read by `readAll`. */
function counting(store: EventStore): { readonly store: EventStore; read: number } {
  const counted = {
    read: 0,
    store: {
      ...store,
      async *readAll(...given: Parameters<EventStore['readAll']>) {
        for await (const one of store.readAll(...given)) {
          counted.read++
          yield one
        }
      },
    },
  }
  return counted
}

test('is compared in parts, each event once, with the same digest as in one comparison', async (context) => {
  const [source, target] = [counting(context.source), counting(context.openTarget())]
  const [filling, comparing] = [copierOf(context.source, target.store), copierOf(source.store, target.store)]
  await write(source.store, ['a-1', 'b-1'])
  await filling.copyMissing(ignoreProgress)
  await comparing.compare(3, ignoreProgress)
  await write(source.store, ['a-1', 'c-1'])
  await filling.copyMissing(ignoreProgress)
  source.read = target.read = 0
  const compared: string[] = []
  await comparing.compare(5, ({ stream }) => compared.push(stream))
  assert.equal(compared, ['a-1', 'c-1'])
  assert.equal([source.read, target.read], [2, 2])
  const whole = copierOf(context.source, target.store)
  await whole.compare(5, ignoreProgress)
  assert.is(comparing.digest(), whole.digest())
  assert.is(comparing.digest(), filling.digest())
})

test('is compared up to where it was copied, whatever was appended to the source since', async ({
  source,
  openTarget,
}) => {
  const target = openTarget()
  await write(source, ['a-1', 'b-1'])
  await copierOf(source, target).copyMissing(ignoreProgress)
  await write(source, ['c-1'])
  const comparing = copierOf(source, target)
  await comparing.compare(3, ignoreProgress)
  assert.is(comparing.eventCount, 3)
  assert.match(String(await rejection(comparing.compare(4, ignoreProgress))), /c-1@0.*the target does not have it/)
  await write(target, ['d-1'])
  assert.match(String(await rejection(comparing.compare(3, ignoreProgress))), /d-1@0.*the source does not have it/)
})

test('maps any position of the source to the last event copied up to it', async ({ source, openTarget }) => {
  const target = openTarget()
  await write(target, [STORES_STREAM])
  const streams = Array.from({ length: 250 }, (_, number) => (number % 50 === 7 ? STORES_STREAM : `a-${number}`))
  await write(source, streams)
  const copying = copierOf(source, target)
  await copying.copyMissing(ignoreProgress)
  const targetPositions = new Map((await all(target.readAll('start'))).map(({ id, position }) => [id, position]))
  let last: string | undefined
  for (const { id, stream, position } of await all(source.readAll('start'))) {
    if (stream !== STORES_STREAM) last = id
    assert.equal(await copying.findTarget(position), { id: last, position: targetPositions.get(last ?? '') })
  }
  assert.is(await copying.findTarget({ commit: -1n, prepare: -1n }), undefined)
})

test('ends at a given position or time, even if it is resumed', async ({ source, openTarget }) => {
  const at = (second: number) => `2100-01-02T03:04:0${second}.000Z`
  for (let second = 1; second <= 4; second++) {
    const one = event()
    await source.append(`a-${second}`, 'none', [{ ...one, metadata: { ...one.metadata, at: at(second) } }])
  }
  const events = await all(source.readAll('start'))
  const third = events.find(({ stream }) => stream === 'a-3')
  const cutoffs: LogCutoff[] = [
    { time: Date.parse(at(3)) },
    { position: third?.position ?? { commit: 0n, prepare: 0n } },
  ]
  for (const until of cutoffs) {
    const target = openTarget()
    const cut = new LogCopier(source, target, until)
    assert.is(await cut.copyMissing(ignoreProgress), events.length - 1)
    assert.is(await cut.copyMissing(ignoreProgress), 0)
    await new LogCopier(source, target, until).compare(cut.eventCount, ignoreProgress)
    assert.equal(await contentOf(target), (await contentOf(source)).slice(0, -1))
  }
})

test('has each event once and in order despite appends that fail or have an unknown outcome', async (context) => {
  const { source, openTarget } = context
  await write(source, ['a-1', 'b-1', 'a-1'])
  const target = faultyStore(openTarget())
  target.failNext('unavailable', 'stored', 'lost')
  await copierOf(source, target).copyMissing(ignoreProgress)
  assert.equal(await contentOf(target), await contentOf(source))
})

/** A copy of the log in which the last event is changed. */
async function copyWithChange(
  { source, openTarget }: Context,
  change: (event: StoredEvent) => NewEvent,
): Promise<EventStore> {
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

for (const [description, change] of Object.entries(changes)) {
  test(`is incomplete if the ${description} of an event differs`, async (context) => {
    const target = await copyWithChange(context, change)
    assert.match(String(await rejection(compare(context.source, target))), /differs from the source's at a-1@1/)
    assert.match(
      String(await rejection(copierOf(context.source, target).copyMissing(ignoreProgress))),
      /differs from the source's at a-1@1/,
    )
  })
}

test('is incomplete if an event is missing, or if there is an extra one', async ({ source, openTarget }) => {
  await write(source, ['a-1'])
  const target = openTarget()
  await copierOf(source, target).copyMissing(ignoreProgress)
  await write(source, ['b-1'])
  assert.match(String(await rejection(compare(source, target))), /b-1@0.*the target does not have it/)
  await copierOf(source, target).copyMissing(ignoreProgress)
  await write(target, ['c-1'])
  assert.match(String(await rejection(compare(source, target))), /c-1@0.*the source does not have it/)
})

test.run()
