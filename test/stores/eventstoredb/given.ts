import { suite, type Test } from 'uvu'
import type { EventStore } from '../../../src/stores/ports/event-store.ts'
import { openEventStoreDB } from '../../../src/stores/eventstoredb/eventstoredb.ts'
import type { Timing } from '../../../src/stores/eventstoredb/timing.ts'
import { startPeer, type Peer } from '../../eventstoredb/peer/peer.ts'

export type Given = { readonly peer: Peer; readonly store: EventStore; readonly open: () => EventStore }

/** As in production, in less time: for tests in which time runs out. */
export const SHORT: Timing = {
  append: 300,
  read: 1_000,
  gossip: 100,
  round: 30,
  silence: 100,
  gathering: 2,
  firstPause: 10,
  longestPause: 100,
}

/** A suite whose tests have a peer each, a store on it, and can open others. */
export function suiteOnPeer(name: string, timing: Timing = SHORT): Test<Given> {
  const test = suite<Given>(name)
  let opened: EventStore[] = []
  let peer: Peer
  test.before.each(async (given) => {
    peer = await startPeer()
    opened = []
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
