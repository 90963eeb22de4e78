import { jsonEvent, type ResolvedEvent } from '@eventstore/db-client'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { toStoredEvent } from '../../../src/stores/eventstoredb/encoding.ts'
import { StoreMisconfigured } from '../../../src/stores/ports/event-store.ts'

const test = suite('an event of EventStoreDB')

/** An event as the client returns it. */
function resolved(commit: bigint): ResolvedEvent {
  const { id, type, data, metadata } = jsonEvent({ type: 'Counted', data: { number: 1 } })
  const position = { commit, prepare: commit }
  return {
    event: {
      streamId: 'counter-1',
      revision: 3n,
      id,
      type,
      data,
      metadata,
      isJson: true,
      created: new Date(0),
      position,
    },
  }
}

test('has its position', () => {
  assert.equal(toStoredEvent(resolved(7n))?.position, { commit: 7n, prepare: 7n })
})

test('without a position, as servers before 22.6 return it from a stream, is refused with the oldest version', () => {
  const convert = () => toStoredEvent(resolved(2n ** 64n - 1n))
  assert.throws(
    convert,
    (error: unknown) =>
      error instanceof StoreMisconfigured &&
      error.message ===
        'EventStoreDB: the server must be version 22.10 or newer: it returned no position of 3@counter-1',
  )
})

test.run()
