import { suite, type Test } from 'uvu'
import type { EventStore } from '../../../src/stores/ports/event-store.ts'
import { openEventStoreDB } from '../../../src/stores/eventstoredb/eventstoredb.ts'
import type { Timing } from '../../../src/stores/eventstoredb/timing.ts'
import { startPeer, type Peer } from '../../eventstoredb/peer/peer.ts'

export type Given = { readonly peer: Peer; readonly store: EventStore; readonly open: () => EventStore }

/** Milliseconds. Requests that get a response may take minutes on a slow machine; those that get none time out soon. */
export const LONG_TIMEOUT = 120_000
const SHORT = { append: 300, read: 1_000 } as const

/**
 * Timeouts are short while the server does not respond and long otherwise, however slow the machine is.
 * @param responds whether the server responds to appends, or to all requests, at the moment
 */
export const timingWhile = (responds: (requests: 'appends' | 'all') => boolean): Timing => ({
  get appendTimeoutMs() {
    return responds('appends') && responds('all') ? LONG_TIMEOUT : SHORT.append
  },
  get readTimeoutMs() {
    return responds('all') ? LONG_TIMEOUT : SHORT.read
  },
  gossipTimeoutMs: 100,
  maxDiscoveryPauseMs: 30,
  silenceMs: 100,
  gatheringMs: 2,
  firstPauseMs: 10,
  longestPauseMs: 100,
})

export const timingOn = (peer: Peer): Timing =>
  timingWhile((requests) =>
    requests === 'appends'
      ? peer.faults.appends.length === 0
      : peer.isUp() && !peer.faults.silent && !peer.faults.notReady,
  )

/** A suite in which each test has its own peer and a store on it, and can open further stores. */
export function suiteOnPeer(name: string): Test<Given> {
  const test = suite<Given>(name)
  let opened: EventStore[] = []
  let peer: Peer
  test.before.each(async (given) => {
    peer = await startPeer()
    opened = []
    const timing = timingOn(peer)
    const open = () => {
      const store = openEventStoreDB(peer.url, timing)
      opened.push(store)
      return store
    }
    Object.assign(given, { peer, open, store: open() })
  })
  test.after.each(async () => {
    await Promise.all(opened.map((store) => store.close()))
    await peer.stop()
  })
  return test
}
