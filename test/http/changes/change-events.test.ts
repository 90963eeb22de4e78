import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { streamChangeEvents, CHANGES_PER_READ, type ChangeStreamOptions } from '../../../src/http/changes/changes.ts'
import type { ChangePage } from '../../../src/projections/diamonds/change-feed.ts'

const test = suite('changes as server-sent events')

const COMMENT = ':\n\n'

/** A feed with the given pages whose waits end without a change. It records its calls. */
class FakeFeed {
  readonly reads: { after: string | undefined; limit: number }[] = []
  readonly waits: { after: string; ms: number }[] = []
  isStopped = false

  constructor(private readonly pages: ChangePage[] = []) {}

  after(_version: string, _account: number, after: string | undefined, limit: number): Promise<ChangePage> {
    this.reads.push({ after, limit })
    return Promise.resolve(this.pages.shift() ?? page([], after ?? '0-0'))
  }

  waitForChanges(_account: number, after: string, ms: number): Promise<void> {
    this.waits.push({ after, ms })
    return Promise.resolve()
  }
}

const page = (numbers: readonly number[], next: string, more = false): ChangePage => ({
  changes: numbers.map((number) => ({
    cursor: `0-${number}`,
    diamond: number,
    what: ['created'],
    text: `{"n":${number}}`,
  })),
  next,
  more,
  isCurrent: true,
})

const streamOptions = (feed: FakeFeed, signal = new AbortController().signal): ChangeStreamOptions => ({
  feed,
  version: 'v4',
  account: 1,
  abortSignal: signal,
})

/** The next chunks of the stream. */
async function take(events: AsyncGenerator<string>, count: number): Promise<string[]> {
  const chunks: string[] = []
  while (chunks.length < count) chunks.push(String((await events.next()).value))
  return chunks
}

const event = (number: number) => `id: 0-${number}\nevent: change\ndata: {"n":${number}}\n\n`

test('start with a comment and send one after each 15 seconds without a change', async () => {
  const feed = new FakeFeed()
  const events = streamChangeEvents(streamOptions(feed), page([], '0-7'))
  assert.equal(await take(events, 4), [COMMENT, COMMENT, COMMENT, COMMENT])
  assert.equal(
    feed.waits.map(({ ms }) => ms),
    [15_000, 15_000, 15_000],
  )
  assert.ok(feed.waits.every(({ after }) => after === '0-7'))
})

test('continue after the last page and wait only when there are no more', async () => {
  const feed = new FakeFeed([page([3], '0-3'), page([], '0-3')])
  const events = streamChangeEvents(streamOptions(feed), page([1, 2], '0-2', true))
  assert.equal(await take(events, 5), [COMMENT, event(1), event(2), event(3), COMMENT])
  assert.equal(
    feed.reads.map(({ after }) => after),
    ['0-2', '0-3'],
  )
  assert.equal(
    feed.waits.map(({ after }) => after),
    ['0-3', '0-3'],
  )
})

test('are read only as fast as the client takes them, with at most one page in memory', async () => {
  const full = Array.from({ length: CHANGES_PER_READ }, (_, index) => index + 1)
  const feed = new FakeFeed()
  const events = streamChangeEvents(streamOptions(feed), page(full, `0-${CHANGES_PER_READ}`, true))
  await take(events, 1 + CHANGES_PER_READ)
  assert.is(feed.reads.length, 0, 'it read ahead')
  await events.next()
  assert.ok(feed.reads.every(({ limit }) => limit === CHANGES_PER_READ))
})

test('end after the sent events when the token expires or the service stops', async () => {
  const controller = new AbortController()
  const ending = streamChangeEvents(streamOptions(new FakeFeed(), controller.signal), page([1], '0-1', true))
  await take(ending, 2)
  controller.abort()
  assert.ok((await ending.next()).done)

  const feed = new FakeFeed()
  const stopping = streamChangeEvents(streamOptions(feed), page([1], '0-1'))
  await take(stopping, 2)
  feed.isStopped = true
  assert.ok((await stopping.next()).done)
})

test.run()
