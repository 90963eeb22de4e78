import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { CertificationQueries } from '../../../src/projections/certifications/certifications.ts'
import type { PositionOrStart } from '../../../src/stores/ports/event-store.ts'
import type { ReadModel } from '../../../src/stores/ports/read-store.ts'
import { temporaryLog } from '../../stores/temporary-log.ts'
import { appendTo } from '../engine/poison-kinds.ts'

const test = suite('asking for a certification')

const CERTIFICATION = 5
const DIAMOND = 7

/** A read model that is behind until `came`, and has the certification then. */
function behind(): ReadModel & { came(position: PositionOrStart): void } {
  let position: PositionOrStart = 'start'
  const unused = (): never => {
    throw new Error('nobody asks for it')
  }
  return {
    get: async () => (position === 'start' ? undefined : { diamond: DIAMOND }),
    find: unused,
    count: unused,
    counts: unused,
    sequences: unused,
    position: async () => position,
    parkedStreams: async () => new Set(),
    came: (to) => void (position = to),
  }
}

const moments: readonly (readonly [string, (model: { came(): void }, ms: number) => boolean])[] = [
  ['has not come to it', () => false],
  // The request's patience ends, and before it looks at how far the model is, that has come to it.
  [
    'comes to it when nobody waits for it any more',
    (model) => {
      model.came()
      return false
    },
  ],
  [
    'comes to it while it is waited for',
    (model) => {
      model.came()
      return true
    },
  ],
]
for (const [what, reached] of moments) {
  test(`finds it where the read model ${what}`, async () => {
    const store = temporaryLog()
    try {
      const data = { id: CERTIFICATION, laboratory: 'GIA' }
      const attached = await appendTo(store, `diamond-${DIAMOND}`, { type: 'CertificationAttached', data })
      const model = behind()
      const queries = new CertificationQueries(model, store, {
        waitForPosition: (_position, ms) => reached({ came: () => model.came(attached) }, ms),
      })
      assert.is(await queries.diamondOf(CERTIFICATION), DIAMOND)
    } finally {
      await store.close()
    }
  })
}

test.run()
