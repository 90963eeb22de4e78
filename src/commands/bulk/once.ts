import { randomUUID } from 'node:crypto'
import type { RequestDone } from '../../domain/bulk/bulk.ts'
import { decode } from '../../events/decode.ts'
import type { Origin } from '../../events/origin.ts'
import { WrongRevision, type Revision, type StoredEvent } from '../../stores/ports/event-store.ts'
import { appendAll, stamp } from '../core/append.ts'
import type { Writing } from '../core/handle.ts'
import { retrying } from '../core/retry.ts'
import { readRecord, recordOf, sameBody, type Keyed } from './request.ts'

/** What is done to one stream. */
export type DoingOne<Made> = {
  readonly diamond: number
  readonly origin: Origin
  /** @param wish names what is wanted: made again under the same name, it is found and not repeated */
  readonly make: (wish: string) => Promise<Made>
  /** What the first one made, of whom there is a record. */
  readonly again: (wish: string) => Promise<Made>
  readonly takeBack: (made: Made) => Promise<unknown>
}

/**
 * Does one thing to one stream once for a key, and then keeps a record of it: a repeat finds the record, or, where the
 * process died before it, its own event. Unlike `handleAll` nothing is promised before it is done: what is attached has
 * a file, which nobody would hold until somebody keeps the promise.
 * @throws Refusal invalid when the key was used for another body, and what `make` throws
 */
export function onceForKey<Made>(
  writing: Writing,
  keyed: Keyed,
  { diamond, origin, make, again, takeBack }: DoingOne<Made>,
): Promise<Made> {
  const { store, queue, clock } = writing
  const record = recordOf(keyed)
  const { stream, body } = record
  const wishAt = (before: Revision) => `${stream}/${before}/${body}`
  return queue.run(stream, () =>
    retrying({ on: [WrongRevision] }, async () => {
      const { kept, revision: expected } = await readRecord(writing, record)
      if (kept !== undefined) {
        sameBody(decode<RequestDone>(kept), body)
        return again(wishAt(revisionBefore(kept)))
      }
      const made = await make(wishAt(expected))
      const data: RequestDone['data'] = { body, diamonds: [diamond] }
      const done = stamp(origin, clock())(randomUUID(), { type: 'RequestDone', data })
      try {
        await appendAll(writing, [{ stream, expected, events: [done] }])
        return made
      } catch (error) {
        // Another process was first: by the same body, which made the same, or by another one under the same key.
        const [first] = error instanceof WrongRevision ? await store.read(stream, { last: 1 }) : []
        if (first !== undefined && decode<RequestDone>(first).data.body !== body) await takeBack(made)
        throw error
      }
    }),
  )
}

const revisionBefore = ({ revision }: StoredEvent): Revision => (revision === 0n ? 'none' : revision - 1n)
