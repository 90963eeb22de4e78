import { randomUUID } from 'node:crypto'
import type { RequestDone } from '../../domain/bulk/request.ts'
import { WrongRevision, type Revision, type StoredEvent } from '../../stores/ports/event-store.ts'
import { decode } from '../../events/decode.ts'
import { isKept, sameBody, streamOf, type RequestKey } from '../bulk/answer-once.ts'
import { appendAll } from './append-all.ts'
import type { By } from '../diamonds/change-diamonds.ts'
import type { Writing } from './handle.ts'
import { digestOf } from '../bulk/request-stream.ts'
import { stamp } from './stamp.ts'

/** What a request with an Idempotency-Key does to one stream. */
export type Doing<Made> = {
  readonly diamond: number
  /** @param wish names what is wanted: made again under the same name, it is found and not repeated */
  readonly make: (wish: string) => Promise<Made>
  /** What the first one made, of whom there is a record. */
  readonly again: (wish: string) => Promise<Made>
  readonly takeBack: (made: Made) => Promise<unknown>
}

/**
 * Does one thing to one stream once for a key, and then keeps a record of it: a repeat finds the record, or, where the
 * process died before it, its own event. Unlike `answerOnce` nothing is promised before it is done: what is attached has
 * a file, which nobody would hold until somebody keeps the promise.
 * @throws Refusal invalid when the key was used for another body, and what `make` throws
 */
export function appendOnce<Made>(
  writing: Writing,
  { owner, origin }: By,
  request: RequestKey,
  { diamond, make, again, takeBack }: Doing<Made>,
): Promise<Made> {
  const { store, queue, clock } = writing
  const stream = streamOf(owner, request)
  const body = digestOf(request.body)
  const wishAt = (before: Revision) => `${stream}/${before}/${body}`
  return queue.run(stream, async () => {
    for (;;) {
      const [last] = await store.read(stream, { last: 1 })
      if (last !== undefined && isKept(last, clock())) {
        sameBody(decode<RequestDone>(last).data, body)
        return again(wishAt(revisionBefore(last)))
      }
      const expected = last?.revision ?? 'none'
      const made = await make(wishAt(expected))
      const data: RequestDone['data'] = { body, diamonds: [diamond] }
      const done = stamp(origin, clock())(randomUUID(), { type: 'RequestDone', data })
      try {
        await appendAll(store, [{ stream, expected, events: [done] }])
        return made
      } catch (error) {
        if (!(error instanceof WrongRevision)) throw error
        // Another process was first: by the same request, which made the same, or by another one under the same key.
        const [first] = await store.read(stream, { last: 1 })
        if (first !== undefined && decode<RequestDone>(first).data.body !== body) await takeBack(made)
      }
    }
  })
}

const revisionBefore = ({ revision }: StoredEvent): Revision => (revision === 0n ? 'none' : revision - 1n)
