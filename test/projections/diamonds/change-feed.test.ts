import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { toEventMetadata } from '../../../src/events/event-metadata.ts'
import { ChangeFeed, CursorLost } from '../../../src/projections/diamonds/change-feed.ts'
import { ChangeNotifier } from '../../../src/projections/diamonds/change-notifier.ts'
import { diamonds } from '../../../src/projections/diamonds/diamonds.ts'
import { PATH_LINKS } from '../../../src/representations/json.ts'
import { createLogger } from '../../../src/runtime/logger.ts'
import type { ProjectionProgress } from '../../../src/projections/engine/progress.ts'
import type { PositionOrStart } from '../../../src/stores/ports/event-store.ts'
import { consumerOf, origin, vendorOf, project, runnerOf, withDisk, type Disk } from '../engine/inventory-on-disk.ts'
import { waitFor } from '../../until.ts'

const test = suite('the change feed')

type ChangeJson = { cursor: string; id: number; sku: string; what: string[]; diamond: { price: number } | null }

const caughtUp: ProjectionProgress & { position: PositionOrStart | undefined } = {
  waitForPosition: async () => true,
  position: undefined,
}

async function openFeed({ store, reads }: Disk, writing: typeof caughtUp = caughtUp) {
  const model = await reads.model(diamonds.declaration)
  const watch = new ChangeNotifier({ model, progress: writing, log: createLogger('silent') })
  const feed = new ChangeFeed({ model, progress: writing, store, watch }, PATH_LINKS)
  return { feed, watch }
}

async function readPage(feed: ChangeFeed, after?: string, limit = 100) {
  const { changes, next, more } = await feed.after('v4', 1, after, limit)
  return { changes: changes.map(({ text }) => JSON.parse(text) as ChangeJson), next, more }
}

const summaries = ({ changes }: { changes: ChangeJson[] }) =>
  changes.map(({ id, what, cursor }) => `${cursor} ${id} ${what}`)

test(
  'lists each changed diamond once, ordered by its latest change, with the kinds of its changes',
  withDisk(async (disk) => {
    const vendor = vendorOf(disk.store)
    const [a = 0, b = 0, c = 0] = await vendor.create(3)
    await vendor.patch(a, { price: 7 })
    await vendor.remove(b)
    await project(disk)
    const { feed } = await openFeed(disk)
    const all = await readPage(feed)
    assert.equal(summaries(all), [`0-3 ${c} created`, `0-4 ${a} created,fields`])
    assert.is(all.next, '0-5')
    assert.is(all.more, false)
    assert.equal(summaries(await readPage(feed, '0-3')), [`0-4 ${a} fields`, `0-5 ${b} deleted`])
    assert.is((await readPage(feed, '0-4')).changes[0]?.diamond, null)
    assert.equal(await readPage(feed, '0-5'), { changes: [], next: '0-5', more: false })
    assert.is(await feed.currentCursor(1), '0-5')
    assert.is(await feed.currentCursor(2), '0-0')
  }),
)

test(
  'returns no empty page before its end',
  withDisk(async (disk) => {
    const vendor = vendorOf(disk.store)
    const ids = await vendor.create(6)
    for (const id of ids.slice(0, 4)) await vendor.remove(id)
    await project(disk)
    const { feed } = await openFeed(disk)
    const first = await readPage(feed, undefined, 1)
    assert.equal(summaries(first), [`0-5 ${ids[4]} created`])
    assert.is(first.more, true)
    const second = await readPage(feed, first.next, 1)
    assert.equal(summaries(second), [`0-6 ${ids[5]} created`])
    // A client that reads page by page may receive the deletion of a diamond that it never received.
    const third = await readPage(feed, second.next, 3)
    assert.equal(summaries(third), [`0-7 ${ids[0]} deleted`, `0-8 ${ids[1]} deleted`, `0-9 ${ids[2]} deleted`])
    assert.is((await readPage(feed, third.next)).next, '0-10')
    assert.equal(summaries(await readPage(feed, '0-4', 3)), [
      `0-5 ${ids[4]} created`,
      `0-6 ${ids[5]} created`,
      `0-7 ${ids[0]} deleted`,
    ])
  }),
)

test(
  'lists a parked diamond again after the request that unparked it',
  withDisk(async (disk) => {
    const vendor = vendorOf(disk.store)
    const [a = 0, b = 0] = await vendor.create(2)
    const stream = `diamond-${a}`
    const broken = { set: { price: 'much' }, removed: [] }
    const event = (type: string, data: object) => ({
      id: randomUUID(),
      type,
      data: { ...data },
      metadata: toEventMetadata(origin, Date.now()),
    })
    await disk.store.append(stream, 0n, [event('DiamondPatched', broken)])
    await project(disk)
    const { feed } = await openFeed(disk)
    assert.equal(summaries(await readPage(feed)), [`0-1 ${a} created`, `0-2 ${b} created`])
    const { next } = await readPage(feed)
    assert.is(next, '0-3')
    await disk.store.append('retries-diamonds', 'none', [
      event('RetryRequested', { model: 'diamonds', streams: [stream] }),
    ])
    await project(disk)
    const freed = await readPage(feed, next)
    assert.equal(summaries(freed), [`0-4 ${a} fields,certifications,scores`])
    await consumerOf(disk, diamonds).rebuild()
    assert.equal(summaries(await readPage(feed, next)), summaries(freed))
  }),
)

test(
  'lists a diamond that was parked from its first event as created, once it is unparked',
  withDisk(async (disk) => {
    const [a = 0, b = 0] = await vendorOf(disk.store).create(2)
    const older = runnerOf(disk, {
      ...diamonds,
      evolve(known, event, number) {
        if (event.stream === `diamond-${b}`) throw new Error('an older release cannot read it')
        return diamonds.evolve(known, event, number)
      },
    })
    older.start()
    assert.ok(
      await waitFor(
        'the older release',
        Promise.resolve(older.progress.waitForPosition(await disk.store.head(), Infinity)),
      ),
    )
    await older.stop()
    const { feed } = await openFeed(disk)
    const { next, ...first } = await readPage(feed)
    assert.equal([summaries({ ...first }), next], [[`0-1 ${a} created`], '0-2'])
    await disk.store.append('retries-diamonds', 'none', [
      {
        id: randomUUID(),
        type: 'RetryRequested',
        data: { model: 'diamonds', streams: [`diamond-${b}`] },
        metadata: toEventMetadata(origin, Date.now()),
      },
    ])
    await project(disk)
    assert.equal(summaries(await readPage(feed, next)), [`0-3 ${b} created,fields,certifications,scores`])
  }),
)

test(
  'moves a cursor from before a restore back to the position that was restored',
  withDisk(async (disk) => {
    const vendor = vendorOf(disk.store)
    const restored = (epoch: number, after: 'none' | bigint) =>
      disk.store.append('restores', after, [
        { id: randomUUID(), type: 'LogRestored', data: { epoch }, metadata: toEventMetadata(origin, Date.now()) },
      ])
    const lost = async (feed: ChangeFeed, cursor: string) => {
      try {
        return (await readPage(feed, cursor)).next
      } catch (error) {
        return error instanceof CursorLost ? `lost, ${error.restart}` : String(error)
      }
    }
    await vendor.create(3)
    await restored(1, 'none')
    await project(disk)
    const { feed } = await openFeed(disk)
    assert.is(await lost(feed, '0-3'), '1-3')
    assert.is(await lost(feed, '0-4'), 'lost, 1-3')
    await vendor.create(2)
    await restored(4, 0n)
    await vendor.create(1)
    await project(disk)
    assert.is(await lost(feed, '0-3'), '4-6')
    assert.is(await lost(feed, '0-4'), 'lost, 4-3')
    assert.is(await lost(feed, '1-5'), '4-6')
    assert.is(await lost(feed, '1-6'), 'lost, 4-5')
    // The restored log has no record of where epochs 2 and 3 began.
    assert.is(await lost(feed, '3-2'), 'lost, 4-0')
    assert.match(await lost(feed, '4-7'), 'it is ahead of the latest change')
    assert.match(await lost(feed, '5-1'), 'it is ahead of the latest change')
    const ahead = (await openFeed(disk, { ...caughtUp, waitForPosition: async () => false })).feed
    assert.is(await lost(ahead, '4-7'), '4-7', 'a model that is behind cannot reject the cursor')
  }),
)

for (const cursor of ['', '0', '0-', '-1', '0-1-2', '0-x', '00000000000000000-1', '0-1 ', 'NOW']) {
  test(
    `refuses ${JSON.stringify(cursor)} as a cursor`,
    withDisk(async (disk) => {
      const { feed } = await openFeed(disk)
      const error = await readPage(feed, cursor).catch((thrown: unknown) => thrown)
      assert.match(String(error), 'must be a cursor')
    }),
  )
}

test(
  'wakes only the requests that wait for the changed account, and all of them when it stops',
  withDisk(async (disk) => {
    const runner = runnerOf(disk)
    runner.start()
    const { feed, watch } = await openFeed(disk, runner.progress as unknown as typeof caughtUp)
    const long = 3_600_000
    const never = new AbortController()
    let woken = 0
    const other = feed.waitForChanges(2, '0-0', long, never.signal).then(() => woken++)
    const waits = feed.waitForChanges(1, '0-0', long, new AbortController().signal)
    await vendorOf(disk.store).create(1)
    await waitFor('the change', waits)
    assert.equal((await readPage(feed)).changes.length, 1)
    await feed.waitForChanges(1, '0-0', long, never.signal)
    assert.is(woken, 0)
    never.abort()
    await other
    const stopped = feed.waitForChanges(1, '0-1', long, new AbortController().signal)
    watch.stop()
    await stopped
    await runner.stop()
  }),
)

test.run()
