import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { ReportRead } from '../../src/domain/certification/certification.ts'
import { InvalidEventPayload, decode } from '../../src/events/decode.ts'
import { applyEvent, type DiamondView } from '../../src/projections/diamonds/diamond-view.ts'
import { toDocument } from '../../src/projections/diamonds/diamond-document.ts'
import type { StoredEvent } from '../../src/stores/ports/event-store.ts'
import { recordings } from './recordings.ts'

const test = suite('a ReportRead event of an earlier version')

const recorded = recordings()

function example(file: string): StoredEvent {
  const event = recorded.get(file)
  if (event === undefined) throw new Error(`${file} is not recorded`)
  return event
}

const first = example('ReportRead.1.json')
const dataOf = (data: object) => decode<ReportRead>({ ...first, data: { ...data } }).data
const reading = first.data['reading'] as Readonly<Record<string, unknown>>

/** Members that version 2 did not read, and `unclear`, which version 3 did not have. */
const UNREAD_IN_VERSION_2 = { girdle: null, star: null, lower: null, unclear: [] }

test('has null for fields that its version did not read, and no mismatches', () => {
  const unread = { laboratory: null, shape: null, isLabGrown: null, ...UNREAD_IN_VERSION_2 }
  assert.equal(dataOf(first.data), { certification: 1, reading: { ...reading, ...unread } })
})

test('keeps the fields that it read', () => {
  const found = { ...reading, laboratory: 'GIA', shape: 2, isLabGrown: false }
  const mismatches = [{ field: 'carat', given: 0.75, read: 0.73 }]
  assert.equal(dataOf({ certification: 1, reading: found, mismatches }), {
    certification: 1,
    reading: { ...found, ...UNREAD_IN_VERSION_2 },
  })
  const some = { ...reading, laboratory: null, isLabGrown: true }
  assert.equal(dataOf({ certification: 1, reading: some, mismatches: [] }).reading, {
    ...some,
    shape: null,
    ...UNREAD_IN_VERSION_2,
  })
})

test('is not modified by decoding', () => {
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
  test(`with an invalid payload is rejected: ${JSON.stringify(broken)}`, () => {
    assert.throws(
      () => dataOf(broken),
      (error: unknown) => error instanceof InvalidEventPayload && /ReportRead in diamond-1@3/.test(error.message),
    )
  })
}

/** The document of a diamond with a report, as the read model stores it. */
function documentWith(read: StoredEvent) {
  const events = [example('DiamondCreated.1.json'), example('CertificationAttached.1.json'), read]
  const view = events
    .map((event, index): StoredEvent => ({ ...event, stream: 'diamond-1', revision: BigInt(index) }))
    .reduce<DiamondView | undefined>((folded, event) => applyEvent(folded, event), undefined)
  if (view === undefined) throw new Error('the diamond is not in the read model')
  return toDocument(view)
}

test('produces the same document as the same reading in version 4', () => {
  const { certification } = first.data
  const id = example('CertificationAttached.1.json').data['id']
  assert.is(certification, id)
  const second = { ...first, data: dataOf(first.data), metadata: { ...first.metadata, schema: '4' } }
  assert.equal(documentWith(first), documentWith(second))
  const contradicting = { ...second.data, reading: { ...second.data.reading, laboratory: 'HRD' } }
  assert.not.equal(documentWith(first), documentWith({ ...second, data: contradicting }))
})

test('keeps every field of version 2, and has null for fields that version 2 did not read', () => {
  const second = example('ReportRead.2.json')
  const { reading: found } = second.data as { readonly reading: object }
  assert.equal(decode<ReportRead>(second).data.reading, { ...found, ...UNREAD_IN_VERSION_2 })
})

test.run()
