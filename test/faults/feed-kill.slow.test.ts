import { isDeepStrictEqual } from 'node:util'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Vendor } from '../api/harness/account.ts'
import { Consumer, inventoryOf, type FeedPage } from '../api/harness/feed.ts'
import type { Shown } from '../api/harness/stones.ts'
import { rounds } from '../rounds.ts'
import { choicesFor, type Choices } from '../seeded.ts'
import { until } from '../until.ts'
import { nothingTold, writeUntilGone } from './load.ts'
import { withInstallation } from './serving.ts'

const ROUNDS = rounds(3, 100)
const CLIENTS = 4

const test = suite('who follows the changes of an inventory')

/** What a consumer has put on record, which is all that is left of it when it is killed. */
type Recorded = { readonly stones: string; readonly cursor: string | undefined }

const recordOf = ({ stones, cursor }: Consumer): Recorded => ({ stones: JSON.stringify([...stones]), cursor })

function from({ stones, cursor }: Recorded): Consumer {
  const consumer = new Consumer()
  for (const [id, shown] of JSON.parse(stones) as [number, never][]) consumer.stones.set(id, shown)
  consumer.cursor = cursor
  return consumer
}

const shown = (stones: readonly Shown[]) => stones.map(({ id, sku, price, scores }) => ({ id, sku, price, scores }))

/** Follows, is killed now and then with what it had not put on record, and begins again, until the service is gone. */
async function followUntilGone(ann: Vendor, recorded: Recorded, choices: Choices): Promise<Recorded> {
  let kept = recorded
  for (;;) {
    const consumer = from(kept)
    try {
      for (let page = 0; page < 5; page++) {
        const answer = await ann.get(`/v4/diamond/changes?wait=1&${consumer.query(1 + choices.below(20))}`)
        if (answer.status === 200) consumer.take(answer.json() as FeedPage)
        if (choices.next() < 0.6) kept = recordOf(consumer)
      }
    } catch {
      return kept
    }
  }
}

test(`has what the service lists, after both were killed ${ROUNDS} times`, () =>
  withInstallation(async ({ serve }) => {
    let recorded = recordOf(new Consumer())
    for (let round = 0; round < ROUNDS; round++) {
      const service = await serve()
      const told = nothingTold()
      const clients = Array.from({ length: CLIENTS }, (_, client) =>
        writeUntilGone(service.ann, `${round}-${client}`, told),
      )
      const following = followUntilGone(service.ann, recorded, choicesFor(`feed-kill ${round}`))
      await until('creates after the start', () => told.created.size > 60 + 30 * (round % 4))
      await service.kill()
      await Promise.all(clients)
      recorded = await following
    }
    const last = await serve()
    const consumer = from(recorded)
    // Scores come by and by, and change both.
    await until('the consumer to have what is listed', async () => {
      await consumer.catchUp(last.ann)
      const listed = shown(await inventoryOf(last.ann))
      return listed.length > 100 && isDeepStrictEqual(shown(consumer.inventory), listed)
    })
    assert.is(await last.stop(), 0)
  }))

test.run()
