import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Refusal } from '../../../src/domain/decider.ts'
import { cursorIn, CursorLost, type ChangeFeed } from '../../../src/projections/diamonds/change-feed.ts'
import { pushedFeed } from '../../../src/reactions/webhooks/lane.ts'

const test = suite('the feed that is pushed')

const page = { changes: [], next: '1-3', more: false, current: true }

/** A feed that was set back to 0-3 by a restore. */
function restored(asked: (string | undefined)[]): Pick<ChangeFeed, 'after' | 'changed'> {
  return {
    async after(_version, _account, cursor) {
      asked.push(cursor)
      if (cursor === '0-9') throw new CursorLost(cursorIn(cursor), '1-3')
      if (cursor === 'x') throw new Refusal('malformed', 'no cursor')
      return page
    },
    changed: async () => undefined,
  }
}

test('goes on from where it went back to, where a restore lost a cursor', async () => {
  const asked: (string | undefined)[] = []
  assert.equal(await pushedFeed(restored(asked)).after(7, '0-9', 20), page)
  assert.equal(asked, ['0-9', '1-3'])
})

test('is asked once where nothing is lost', async () => {
  const asked: (string | undefined)[] = []
  await pushedFeed(restored(asked)).after(7, '0-2', 20)
  assert.equal(asked, ['0-2'])
})

test('passes on what else is wrong', async () => {
  try {
    await pushedFeed(restored([])).after(7, 'x', 20)
    assert.unreachable('nothing was wrong')
  } catch (error) {
    assert.instance(error, Refusal)
  }
})

test.run()
