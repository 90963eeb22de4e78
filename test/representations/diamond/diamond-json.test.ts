import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { LABORATORIES } from '../../../src/domain/certification/certification.ts'
import { applyEvent, type DiamondView } from '../../../src/projections/diamonds/diamond-view.ts'
import { diamondJson, diamondListJson } from '../../../src/representations/diamond/diamond-json.ts'
import { PATH_LINKS } from '../../../src/representations/json.ts'
import type { StoredEvent } from '../../../src/stores/ports/event-store.ts'
import * as fc from '../../fast-check.ts'

const test = suite('the JSON of a diamond')

/** Any text that JSON can represent, including unpaired surrogates. */
const text = fc
  .array(fc.integer({ min: 0, max: 0xff_ff }), { maxLength: 20 })
  .map((units) => String.fromCharCode(...units))

const stored = (type: string, revision: number, data: object, schema: string): StoredEvent => ({
  id: '0',
  stream: 'diamond-1',
  revision: BigInt(revision),
  type,
  data: { ...data },
  metadata: { at: '2026-01-01T00:00:00.000Z', schema },
  position: { commit: 9n, prepare: 9n },
})

/** Events as they could have been written without request validation. */
const lives = fc
  .record({
    date: fc.oneof(fc.maxSafeInteger(), fc.integer({ min: 0, max: 4_000_000_000 })),
    fields: fc.record({
      sku: text,
      cutShape: text,
      girdle: text,
      carat: fc.double({ noNaN: true, noDefaultInfinity: true }),
    }),
    reports: fc.array(fc.record({ laboratory: fc.constantFrom(...LABORATORIES), number: text }), { maxLength: 3 }),
  })
  .map(({ date, fields, reports }) => [
    stored('DiamondCreated', 0, { id: 1, owner: 1, date, set: fields }, '1'),
    ...reports.map((report, index) => {
      const data = { ...report, id: index + 1, file: null }
      return stored('CertificationAttached', index + 1, data, '1')
    }),
  ])

function viewOf(events: readonly StoredEvent[]): DiamondView | undefined {
  try {
    return events.reduce<DiamondView | undefined>(applyEvent, undefined)
  } catch {
    // A projection parks an event that cannot be decoded.
    return undefined
  }
}

test('can be written for any event payload, so that one diamond never breaks a list', () => {
  const some = fc.sample(lives, { numRuns: 200, seed: 1 })
  assert.ok(some.some((events) => viewOf(events) === undefined))
  assert.ok(some.some((events) => viewOf(events) !== undefined))
  fc.assert(
    fc.property(fc.array(lives, { maxLength: 3 }), (all) => {
      const views = all.map(viewOf).filter((view) => view !== undefined)
      for (const version of ['v3', 'v4'] as const) {
        const list = JSON.parse(diamondListJson(version, views, PATH_LINKS)) as unknown
        assert.equal(
          list,
          views.map((view) => JSON.parse(diamondJson(version, view, PATH_LINKS)) as unknown),
        )
      }
    }),
  )
})

test.run()
