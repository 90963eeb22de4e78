import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { laboratories } from '../../../src/projections/laboratories/laboratories.ts'
import type { StoredEvent } from '../../../src/stores/ports/event-store.ts'

const test = suite('the laboratory of a diamond')

const event = (type: string, data: StoredEvent['data']): StoredEvent => ({
  id: '00000000-0000-4000-8000-000000000001',
  type,
  data,
  metadata: { schema: '1' },
  stream: 'diamond-337',
  revision: 0n,
  position: { commit: 1n, prepare: 1n },
})
const born = event('DiamondCreated', { id: 337, owner: 7, date: 0, set: { sku: 'A', cutShape: 2, carat: 1 } })
const attached = (id: number, laboratory: string) =>
  event('CertificationAttached', { id, laboratory, number: null, file: null })
const removed = (id: number) => event('CertificationRemoved', { id, digest: null })
const deleted = event('DiamondDeleted', {})

/** The document after these events. */
function document(...events: readonly StoredEvent[]) {
  let state: ReturnType<typeof laboratories.fromDocument> | undefined
  for (const one of events) state = laboratories.evolve(state, one, 0)
  return state && laboratories.toDocument(state)
}

test('is that of its newest report that was not removed', () => {
  assert.is(document(born)?.['laboratory'], '')
  assert.is(document(born, attached(1, 'GIA'), attached(2, 'IGI'))?.['laboratory'], 'IGI')
  assert.is(document(born, attached(1, 'GIA'), attached(2, 'IGI'), removed(2))?.['laboratory'], 'GIA')
})

test('is the same if an event is delivered twice', () => {
  assert.equal(document(born, attached(1, 'GIA'), attached(1, 'GIA')), document(born, attached(1, 'GIA')))
})

test('is deleted with the diamond', () => {
  assert.is(document(born, attached(1, 'GIA'), deleted), undefined)
})

test('survives a round trip through its document', () => {
  const stored = document(born, attached(1, 'GIA'), attached(2, 'IGI')) ?? {}
  assert.equal(laboratories.toDocument(laboratories.fromDocument(stored)), stored)
})

test.run()
