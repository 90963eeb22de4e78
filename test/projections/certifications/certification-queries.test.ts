import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { CertificationQueries } from '../../../src/projections/certifications/certifications.ts'
import type { PositionOrStart } from '../../../src/stores/ports/event-store.ts'
import type { ReadModel } from '../../../src/stores/ports/read-store.ts'
import { temporaryLog } from '../../stores/temporary-log.ts'
import { appendTo } from '../engine/poison-events.ts'

const test = suite('the query for a certification')

const CERTIFICATION = 5
const DIAMOND = 7

/** A read model that lacks the certification until `catchUp` is called. */
function laggingModel(): ReadModel & { catchUp(position: PositionOrStart): void } {
  let position: PositionOrStart = 'start'
  const unused = (): never => {
    throw new Error('unexpected call')
  }
  return {
    get: async () => (position === 'start' ? undefined : { diamond: DIAMOND }),
    find: unused,
    count: unused,
    counts: unused,
    sequences: unused,
    position: async () => position,
    parkedStreams: async () => new Set(),
    catchUp: (to) => void (position = to),
  }
}

const MOMENTS: readonly (readonly [string, (model: { catchUp(): void }, ms: number) => boolean])[] = [
  ['has not reached its event', () => false],
  // The model catches up after the wait has ended and before the query compares the positions.
  [
    'reaches its event after the wait has ended',
    (model) => {
      model.catchUp()
      return false
    },
  ],
  [
    'reaches its event during the wait',
    (model) => {
      model.catchUp()
      return true
    },
  ],
]
for (const [description, reached] of MOMENTS) {
  test(`finds it if the read model ${description}`, async () => {
    const store = temporaryLog()
    try {
      const data = { id: CERTIFICATION, laboratory: 'GIA' }
      const attached = await appendTo(store, `diamond-${DIAMOND}`, { type: 'CertificationAttached', data })
      const model = laggingModel()
      const queries = new CertificationQueries(model, store, {
        waitForPosition: async (_position, ms) => reached({ catchUp: () => model.catchUp(attached) }, ms),
      })
      assert.is(await queries.diamondOf(CERTIFICATION), DIAMOND)
    } finally {
      await store.close()
    }
  })
}

test.run()
