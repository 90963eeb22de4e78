import { randomUUID } from 'node:crypto'
import { KEY_LIFE, type RequestAccepted, type RequestDone } from '../../domain/bulk/bulk.ts'
import { Refusal } from '../../domain/refusal.ts'
import { decode } from '../../events/decode.ts'
import type { Origin } from '../../events/origin.ts'
import { WrongRevision, type Position, type Revision, type StoredEvent } from '../../stores/ports/event-store.ts'
import { appendAll } from '../core/append-all.ts'
import type { Writing } from '../core/handle.ts'
import { timeOf } from '../core/load.ts'
import { stamp } from '../core/stamp.ts'
import { bulkStream, digestOf, type Bulk } from './bulk.ts'
import { carryOut, finishBulk, type Together } from './carry-out.ts'

/** An Idempotency-Key is a caller's name for what it asks for: it counts per account, method and path. */
export type IdempotencyKey = { readonly key: string; readonly method: string; readonly path: string }

export type Keyed = IdempotencyKey & {
  readonly owner: number
  /** What was read from the body and is going to be done. */
  readonly body: unknown
}

/** What is done to several streams at once. */
export type DoingAll<Made> = {
  readonly make: () => Promise<Together & Made>
  /** What the first one made, by its record and where that stands. */
  readonly again: (diamonds: readonly number[], position: Position) => Promise<Answered<Made>>
}

export type Answered<Made> = Made & { readonly position: Position | undefined }

/**
 * Makes what is wanted together with the record that it was done: a repeat finds the record and gives the first
 * answer, one that comes meanwhile waits for it, and what another process began and did not end is finished first. What is
 * refused leaves no record.
 * @throws Refusal invalid when the key was used for another body, and what `make` throws
 */
export function answerOnce<Made extends object>(
  writing: Writing,
  keyed: Keyed,
  { make, again }: DoingAll<Made>,
): Promise<Answered<Made>> {
  const { store, queue, clock } = writing
  const { stream, body } = recordOf(keyed)
  return queue.run(stream, async () => {
    for (;;) {
      const [last] = await store.read(stream, { last: 1 })
      const kept = last !== undefined && isKept(last, clock()) ? last : undefined
      if (kept?.type === 'RequestDone') return again(sameBody(decode<RequestDone>(kept), body).diamonds, kept.position)
      if (kept !== undefined) {
        sameBody(decode<RequestAccepted>(kept), body)
        if ((await finishBulk(writing, stream)) !== undefined) continue
      }
      const made = await make()
      const position = await carriedOut(writing, { ...made, stream, expected: last?.revision ?? 'none', body })
      if (position !== 'overtaken') return { ...made, position }
    }
  })
}

/** `overtaken` where another process wrote a record first */
async function carriedOut(writing: Writing, bulk: Bulk): Promise<Position | undefined | 'overtaken'> {
  try {
    return await carryOut(writing, bulk)
  } catch (error) {
    if (error instanceof WrongRevision && error.stream === bulk.stream) return 'overtaken'
    throw error
  }
}

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
 * process died before it, its own event. Unlike `answerOnce` nothing is promised before it is done: what is attached has
 * a file, which nobody would hold until somebody keeps the promise.
 * @throws Refusal invalid when the key was used for another body, and what `make` throws
 */
export function appendOnce<Made>(
  { store, queue, clock }: Writing,
  keyed: Keyed,
  { diamond, origin, make, again, takeBack }: DoingOne<Made>,
): Promise<Made> {
  const { stream, body } = recordOf(keyed)
  const wishAt = (before: Revision) => `${stream}/${before}/${body}`
  return queue.run(stream, async () => {
    for (;;) {
      const [last] = await store.read(stream, { last: 1 })
      if (last !== undefined && isKept(last, clock())) {
        sameBody(decode<RequestDone>(last), body)
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
        // Another process was first: by the same body, which made the same, or by another one under the same key.
        const [first] = await store.read(stream, { last: 1 })
        if (first !== undefined && decode<RequestDone>(first).data.body !== body) await takeBack(made)
      }
    }
  })
}

const recordOf = ({ owner, method, path, key, body }: Keyed) => ({
  stream: bulkStream(owner, method, path, key),
  body: digestOf(body),
})

/** @throws Refusal invalid for another body */
function sameBody<Data extends { readonly body: string }>({ data }: { readonly data: Data }, body: string): Data {
  if (data.body === body) return data
  throw new Refusal('invalid', 'This Idempotency-Key was used for another body; take a new key for a new request')
}

const isKept = (record: StoredEvent, now: number) => now - timeOf(record) < KEY_LIFE

const revisionBefore = ({ revision }: StoredEvent): Revision => (revision === 0n ? 'none' : revision - 1n)
