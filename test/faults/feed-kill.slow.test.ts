import { isDeepStrictEqual } from 'node:util'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Vendor } from '../api/harness/account.ts'
import { Consumer, inventoryOf, type FeedPage } from '../api/harness/feed.ts'
import type { Shown } from '../api/harness/stones.ts'
import { rounds } from '../rounds.ts'
import { randomFor, type SeededRandom } from '../seeded.ts'
import { until } from '../until.ts'
import { newWriteRecord, writeUntilDown } from './load.ts'
import { withInstallation } from './serving.ts'

const ROUNDS = rounds(3, 100)
const CLIENTS = 4

const test = suite('a consumer of the feed of changes')

/** The state that a consumer has saved, which survives when it is killed. */
type SavedState = { readonly stones: string; readonly cursor: string | undefined }

const saved = ({ stones, cursor }: Consumer): SavedState => ({ stones: JSON.stringify([...stones]), cursor })

function restored({ stones, cursor }: SavedState): Consumer {
  const consumer = new Consumer()
  for (const [id, shown] of JSON.parse(stones) as [number, never][]) consumer.stones.set(id, shown)
  consumer.cursor = cursor
  return consumer
}

const shown = (stones: readonly Shown[]) => stones.map(({ id, sku, price, scores }) => ({ id, sku, price, scores }))

/** Reads the feed until the service is killed. Restarts now and then from its saved state, as if it had been killed. */
async function followUntilKilled(ann: Vendor, start: SavedState, random: SeededRandom): Promise<SavedState> {
  let state = start
  for (;;) {
    const consumer = restored(state)
    try {
      for (let page = 0; page < 5; page++) {
        const response = await ann.get(`/v4/diamond/changes?wait=1&${consumer.query(1 + random.below(20))}`)
        if (response.status === 200) consumer.take(response.json() as FeedPage)
        if (random.next() < 0.6) state = saved(consumer)
      }
    } catch {
      return state
    }
  }
}

test(`has exactly the listed diamonds after it and the service were killed ${ROUNDS} times`, () =>
  withInstallation(async ({ serve }) => {
    let state = saved(new Consumer())
    for (let round = 0; round < ROUNDS; round++) {
      const service = await serve()
      const record = newWriteRecord()
      const clients = Array.from({ length: CLIENTS }, (_, client) =>
        writeUntilDown(service.ann, `${round}-${client}`, record),
      )
      const following = followUntilKilled(service.ann, state, randomFor(`feed-kill ${round}`))
      await until('creates after the start', () => record.created.size > 60 + 30 * (round % 4))
      await service.kill()
      await Promise.all(clients)
      state = await following
    }
    const last = await serve()
    const consumer = restored(state)
    // Scores are computed in the background and change both the list and the feed.
    await until('the consumer to have the listed diamonds', async () => {
      await consumer.catchUp(last.ann)
      const listed = shown(await inventoryOf(last.ann))
      return listed.length > 100 && isDeepStrictEqual(shown(consumer.inventory), listed)
    })
    assert.is(await last.stop(), 0)
  }))

test.run()
