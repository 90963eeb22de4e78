import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { ReportRead } from '../../src/domain/certification/certification.ts'
import { InvalidEventPayload, decode } from '../../src/events/decode.ts'
import { applyEvent, type DiamondView } from '../../src/projections/diamonds/diamond-view.ts'
import { toDocument } from '../../src/projections/diamonds/diamond-document.ts'
import type { StoredEvent } from '../../src/stores/ports/event-store.ts'
import { recordings } from './recordings.ts'

const test = suite('a reading of an earlier version')

const recorded = recordings()

function example(file: string): StoredEvent {
  const event = recorded.get(file)
  if (event === undefined) throw new Error(`${file} is not recorded`)
  return event
}

const first = example('ReportRead.1.json')
const dataOf = (data: object) => decode<ReportRead>({ ...first, data: { ...data } }).data
const reading = first.data['reading'] as Readonly<Record<string, unknown>>

/** What version 2 did not look for either, and what version 3 did not name. */
const UNLOOKED_FOR_IN_2 = { girdle: null, star: null, lower: null, unclear: [] }

test('says of what it did not look for that it found nothing, and no mismatches', () => {
  const unlookedFor = { laboratory: null, shape: null, isLabGrown: null, ...UNLOOKED_FOR_IN_2 }
  assert.equal(dataOf(first.data), { certification: 1, reading: { ...reading, ...unlookedFor } })
})

test('keeps what it found where it looked', () => {
  const found = { ...reading, laboratory: 'GIA', shape: 2, isLabGrown: false }
  const mismatches = [{ field: 'carat', given: 0.75, read: 0.73 }]
  assert.equal(dataOf({ certification: 1, reading: found, mismatches }), {
    certification: 1,
    reading: { ...found, ...UNLOOKED_FOR_IN_2 },
  })
  const some = { ...reading, laboratory: null, isLabGrown: true }
  assert.equal(dataOf({ certification: 1, reading: some, mismatches: [] }).reading, {
    ...some,
    shape: null,
    ...UNLOOKED_FOR_IN_2,
  })
})

test('stays as it is stored', () => {
  const before = structuredClone(first)
  decode(first)
  assert.equal(first, before)
})

for (const broken of [
  {},
  { reading: null },
  { reading: 'a text' },
  { reading: [] },
  { certification: 1, reading: {} },
]) {
  test(`that never was valid is broken, and nothing worse: ${JSON.stringify(broken)}`, () => {
    assert.throws(
      () => dataOf(broken),
      (error: unknown) => error instanceof InvalidEventPayload && /ReportRead in diamond-1@3/.test(error.message),
    )
  })
}

/** The document of a stone with a report, as the read model stores it. */
function documentWith(read: StoredEvent) {
  const events = [example('DiamondCreated.1.json'), example('CertificationAttached.1.json'), read]
  const view = events
    .map((event, index): StoredEvent => ({ ...event, stream: 'diamond-1', revision: BigInt(index) }))
    .reduce<DiamondView | undefined>((folded, event) => applyEvent(folded, event), undefined)
  if (view === undefined) throw new Error('it is live')
  return toDocument(view)
}

test('makes the same document as the same reading in version 4', () => {
  const { certification } = first.data
  const id = example('CertificationAttached.1.json').data['id']
  assert.is(certification, id)
  const second = { ...first, data: dataOf(first.data), metadata: { ...first.metadata, schema: '4' } }
  assert.equal(documentWith(first), documentWith(second))
  const contradicting = { ...second.data, reading: { ...second.data.reading, laboratory: 'HRD' } }
  assert.not.equal(documentWith(first), documentWith({ ...second, data: contradicting }))
})

test('keeps in version 2 all that it found, and says that it found nothing of what it did not look for', () => {
  const second = example('ReportRead.2.json')
  const { reading: found } = second.data as { readonly reading: object }
  assert.equal(decode<ReportRead>(second).data.reading, { ...found, ...UNLOOKED_FOR_IN_2 })
})

test.run()
