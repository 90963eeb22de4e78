import { Readable } from 'node:stream'
import type { ResolvedEvent } from '@eventstore/db-client'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { EventStoreDBConnection } from '../../../src/stores/eventstoredb/connection.ts'
import { LiveFeed } from '../../../src/stores/eventstoredb/live-feed.ts'
import { DEFAULT_TIMING } from '../../../src/stores/eventstoredb/timing.ts'
import type { Position } from '../../../src/stores/ports/event-store.ts'
import { withFakeTime } from '../../fake-time.ts'
import { event, ids } from '../../contract/event-store/given.ts'

const test = suite('the live subscription to EventStoreDB')

const at = (number: number): Position => ({ commit: BigInt(number), prepare: BigInt(number) })

/** A feed with one follower, on a server that sends the events the test gives it; `state.woken` counts wake-ups. */
async function followedFeed() {
  const sent = new Readable({ objectMode: true, read: () => undefined })
  const node = {
    client: { subscribeToAll: () => sent },
    recordResponse: () => undefined,
    onClose: () => () => undefined,
  }
  const connection = { node: async () => node, reportFailure: () => undefined } as unknown as EventStoreDBConnection
  const state = { isAppending: false, woken: 0 }
  const nothing = () => undefined
  const feed = new LiveFeed(
    connection,
    async () => 'start',
    () => state.isAppending,
    nothing,
    DEFAULT_TIMING,
    nothing,
  )
  const leave = await feed.follow(() => state.woken++)
  const send = (number: number) => {
    const { id, type, data, metadata } = event(number)
    const position = at(number)
    const recorded = { id, type, data, metadata, streamId: 'many-1', revision: BigInt(number), isJson: true, position }
    sent.push({ event: recorded } as unknown as ResolvedEvent)
    return id
  }
  return { feed, leave, send, state }
}

test('wakes its follower once for all acknowledged events that are still arriving', () =>
  withFakeTime(async (time) => {
    const { feed, leave, send, state } = await followedFeed()
    feed.observePosition(at(20))
    const all = []
    for (let number = 1; number <= 20; number++) {
      all.push(send(number))
      await time.advance(0)
    }
    assert.is(state.woken, 0)
    await time.advance(DEFAULT_TIMING.gatheringMs)
    assert.is(state.woken, 1)
    assert.equal(ids(feed.tail.batchAfter('start', undefined)?.events ?? []), all)
    leave()
  }))

test('holds events of an append that is in progress until it is acknowledged', () =>
  withFakeTime(async (time) => {
    const { feed, leave, send, state } = await followedFeed()
    state.isAppending = true
    const all = [send(1)]
    await time.advance(0)
    all.push(send(2))
    await time.advance(0)
    assert.is(state.woken, 0)
    state.isAppending = false
    feed.observePosition(at(2))
    await time.advance(0)
    assert.is(state.woken, 1)
    assert.equal(ids(feed.tail.batchAfter('start', undefined)?.events ?? []), all)
    leave()
  }))

test('wakes its follower immediately for the newest event', () =>
  withFakeTime(async (time) => {
    const { leave, send, state } = await followedFeed()
    send(1)
    await time.advance(0)
    assert.is(state.woken, 1)
    leave()
  }))

test.run()
