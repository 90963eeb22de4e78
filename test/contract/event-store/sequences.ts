import * as fc from '../../fast-check.ts'
import * as assert from 'uvu/assert'
import type { EventStore, NewEvent, Position, Revision } from '../../../src/stores/ports/event-store.ts'
import { comparePositions, WrongRevision } from '../../../src/stores/ports/event-store.ts'
import { all, events, ids, newStream, type Rules } from './given.ts'

/** Appends `count` events to one of three streams; the expected revision is wrong by `off`. */
type Step = { readonly stream: number; readonly count: number; readonly off: number; readonly together: boolean }

type Acknowledged = { readonly stream: string; readonly batch: readonly NewEvent[]; readonly position: Position }

const steps = fc.array(
  fc.record({
    stream: fc.integer({ min: 0, max: 2 }),
    count: fc.integer({ min: 1, max: 3 }),
    off: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.integer({ min: -2, max: 2 }) }),
    together: fc.boolean(),
  }),
  { maxLength: 30 },
)

export const sequenceRules: Rules = (test) => {
  test('has gapless streams and exactly the acknowledged events, in one order', async ({ store }) => {
    const runs = process.env['ADAMANT_FULL'] === undefined ? 25 : 300
    await fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        const streams = [newStream('sequence'), newStream('sequence'), newStream('sequence')]
        const from = await store.head()
        const acknowledged = await run(store, streams, sequence)
        const order = acknowledged.toSorted((a, b) => comparePositions(a.position, b.position))
        const stored = await all(store.readAll(from, { prefixes: streams }))
        assert.equal(ids(stored), ids(order.flatMap(({ batch }) => batch)))
        for (const stream of streams) {
          const read = await store.readStream(stream)
          assert.equal(
            read.map(({ revision }) => revision),
            read.map((_, index) => BigInt(index)),
          )
        }
      }),
      { numRuns: runs },
    )
  })
}

/** A step with `together` runs concurrently with the previous ones; any other waits for them first. */
async function run(store: EventStore, streams: readonly string[], sequence: readonly Step[]): Promise<Acknowledged[]> {
  const acknowledged: Acknowledged[] = []
  let running: Promise<void>[] = []
  for (const step of sequence) {
    if (!step.together) {
      await Promise.all(running)
      running = []
    }
    running.push(append(store, streams[step.stream] ?? '', step, acknowledged))
  }
  await Promise.all(running)
  return acknowledged
}

async function append(store: EventStore, stream: string, { count, off }: Step, done: Acknowledged[]): Promise<void> {
  const last = (await store.readStream(stream, { last: 1 }))[0]?.revision ?? -1n
  const expected = last + BigInt(off)
  const revision: Revision = expected < 0n ? 'none' : expected
  const batch = events(count)
  try {
    done.push({ stream, batch, position: await store.append(stream, revision, batch) })
  } catch (error) {
    if (!(error instanceof WrongRevision)) throw error
  }
}
