import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import {
  abandonCopy,
  beginCopy,
  CopyEnded,
  fenceLog,
  finishCopy,
  openLog,
} from '../../../src/commands/installation/move-log.ts'
import { COPY_STREAM, describeReadOnlyState } from '../../../src/domain/installation/read-only-state.ts'
import { openEventStoreDB } from '../../../src/stores/eventstoredb/eventstoredb.ts'
import type { EventStore } from '../../../src/stores/ports/event-store.ts'
import { startPeer } from '../../eventstoredb/peer/peer.ts'
import { rejection } from '../../contract/event-store/given.ts'
import { temporaryLog } from '../../stores/temporary-log.ts'

const moving = {
  origin: { actor: 'operator', via: 'cli', correlation: 'test' },
  clock: Date.now,
} as const

type Target = { readonly name: string; open(): Promise<EventStore> }

/** Targets of a copy, on both engines. */
const targets: readonly Target[] = [
  { name: 'SQLite', open: async () => temporaryLog({ isCopyTarget: true }) },
  {
    name: 'EventStoreDB',
    async open() {
      const peer = await startPeer()
      const store = openEventStoreDB(peer.url, undefined, { isCopyTarget: true })
      return {
        ...store,
        async close() {
          await store.close()
          await peer.stop()
        },
      }
    },
  },
]

for (const { name, open } of targets) {
  const test = suite<{ target: EventStore; copy: string }>(`a copy on ${name}`)
  test.before.each(async (given) => {
    given.target = await open()
    given.copy = randomUUID()
    await beginCopy(moving, given.target, { copy: given.copy, from: 'sqlite:/a', log: randomUUID() })
  })
  test.after.each(({ target }) => target.close())

  const done = (copy: string) => ({ copy, events: 1, digest: '00' })
  const types = async (store: EventStore) => (await store.readStream(COPY_STREAM)).map(({ type }) => type)

  test('has one outcome when finishing and abandoning race', async ({ target, copy }) => {
    const ends = await Promise.allSettled([
      finishCopy(moving, target, done(copy)),
      abandonCopy(moving, target, copy),
      finishCopy(moving, target, done(copy)),
    ])
    const found = await types(target)
    assert.is(found.length, 2)
    assert.equal(
      ends.map(({ status }) => status === 'fulfilled'),
      found[1] === 'CopyDone' ? [true, false, true] : [false, true, false],
    )
    for (const end of ends) if (end.status === 'rejected') assert.instance(end.reason, CopyEnded)
  })

  test('cannot be finished after it was abandoned', async ({ target, copy }) => {
    await abandonCopy(moving, target, copy)
    await abandonCopy(moving, target, copy)
    assert.instance(await rejection(finishCopy(moving, target, done(copy))), CopyEnded)
    assert.equal(await types(target), ['CopyBegun', 'CopyAbandoned'])
    assert.is((await target.closedReason())?.why, 'abandoned')
  })

  test('by a killed replay asks the operator to delete the folder, one by a killed move to run it again', async ({
    target,
  }) => {
    const copy = randomUUID()
    const replay = await open()
    try {
      await beginCopy(moving, replay, { copy, from: 'sqlite:/a', log: randomUUID(), replay: true })
      const closed = await replay.closedReason()
      assert.is(closed?.why, 'half-replayed')
      assert.match(
        closed === undefined ? '' : describeReadOnlyState(closed),
        /delete the folder and run `adamant replay` again/,
      )
    } finally {
      await replay.close()
    }
    const unfinished = await target.closedReason()
    assert.match(
      unfinished === undefined ? '' : describeReadOnlyState(unfinished),
      /run the same `adamant move` command again/,
    )
  })

  test('cannot be abandoned after it was finished', async ({ target, copy }) => {
    await finishCopy(moving, target, done(copy))
    await finishCopy(moving, target, done(copy))
    assert.instance(await rejection(abandonCopy(moving, target, copy)), CopyEnded)
    assert.equal(await types(target), ['CopyBegun', 'CopyDone'])
    assert.is(await target.closedReason(), undefined)
  })

  test.run()
}

const fenced = suite<{ source: EventStore }>('the fence of a log')
fenced.before.each((given) => {
  given.source = temporaryLog()
})
fenced.after.each(({ source }) => source.close())

fenced('is removed only by the copy that set it', async ({ source }) => {
  await fenceLog(moving, source, { copy: 'a', to: 'sqlite:/b' })
  await fenceLog(moving, source, { copy: 'a', to: 'sqlite:/b' })
  await openLog(moving, source, 'another')
  assert.is((await source.closedReason())?.why, 'fenced')
  await openLog(moving, source, 'a')
  await openLog(moving, source, 'a')
  assert.is(await source.closedReason(), undefined)
  assert.equal(
    (await source.readStream('log')).map(({ type }) => type),
    ['LogCreated', 'LogFenced', 'LogOpened'],
  )
})

fenced.run()
