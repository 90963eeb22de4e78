import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { checkpointModelOf } from '../../src/projections/engine/reaction.ts'
import { waitForLease } from '../../src/maintenance/operation.ts'
import type { Lease } from '../../src/stores/ports/read-store.ts'
import { withFakeTime } from '../fake-time.ts'

const test = suite('waiting for a lease')

const held: Lease = { release: async () => undefined, lost: new Promise(() => undefined) }
const work = checkpointModelOf('verifying')

/** A lease that another process holds for `ms` milliseconds. */
function heldFor(ms: number) {
  let lease: Lease | undefined
  setTimeout(() => (lease = held), ms)
  return { acquireLease: async () => lease }
}

test('ends as soon as the lease is released, or without it after 8 s', () =>
  withFakeTime(async (time) => {
    assert.is(await waitForLease({ acquireLease: async () => held }, work), held)
    const soon = waitForLease(heldFor(7_900), work)
    await time.advance(8_000)
    assert.is(await soon, held)
    let outcome: Lease | undefined | 'waits' = 'waits'
    const late = waitForLease(heldFor(9_000), work).then((lease) => (outcome = lease))
    await time.advance(7_999)
    assert.is(outcome, 'waits')
    await time.advance(1)
    assert.is(await late, undefined)
  }))

test('rejects with the reason of an abort', () =>
  withFakeTime(async (time) => {
    const stop = new AbortController()
    const reason = new Error('stopped')
    const waiting = waitForLease(heldFor(60_000), work, { signal: stop.signal, timeoutMs: 60_000 }).catch(
      (error: unknown) => error,
    )
    await time.advance(1_000)
    stop.abort(reason)
    await time.advance(200)
    assert.is(await waiting, reason)
  }))

test.run()
