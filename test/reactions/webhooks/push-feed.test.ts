import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { RequestError } from '../../../src/domain/request-error.ts'
import { parseCursor, CursorLost, type ChangeFeed } from '../../../src/projections/diamonds/change-feed.ts'
import { toPushFeed } from '../../../src/reactions/webhooks/delivery-worker.ts'

const test = suite('the push feed')

const page = { changes: [], next: '1-3', more: false, isCurrent: true }

/** A feed that a restore set back to 0-3. */
function restored(cursors: (string | undefined)[]): Pick<ChangeFeed, 'after' | 'waitForChanges'> {
  return {
    async after(_version, _account, cursor) {
      cursors.push(cursor)
      if (cursor === '0-9') throw new CursorLost(parseCursor(cursor), '1-3')
      if (cursor === 'x') throw new RequestError('malformed', 'no cursor')
      return page
    },
    waitForChanges: async () => undefined,
  }
}

test('restarts where the log was restored if the cursor is lost', async () => {
  const cursors: (string | undefined)[] = []
  assert.equal(await toPushFeed(restored(cursors)).after(7, '0-9', 20), page)
  assert.equal(cursors, ['0-9', '1-3'])
})

test('reads the feed once if the cursor is valid', async () => {
  const cursors: (string | undefined)[] = []
  await toPushFeed(restored(cursors)).after(7, '0-2', 20)
  assert.equal(cursors, ['0-2'])
})

test('passes on other errors', async () => {
  try {
    await toPushFeed(restored([])).after(7, 'x', 20)
    assert.unreachable('it did not throw')
  } catch (error) {
    assert.instance(error, RequestError)
  }
})

test.run()
