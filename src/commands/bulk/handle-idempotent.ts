import { randomUUID } from 'node:crypto'
import type { RequestDone } from '../../domain/bulk/bulk.ts'
import { decode } from '../../events/decode.ts'
import type { Origin } from '../../events/event-metadata.ts'
import { WrongRevision, type Revision, type StoredEvent } from '../../stores/ports/event-store.ts'
import { appendAll, createEventFactory } from '../core/append.ts'
import type { CommandContext } from '../core/handle.ts'
import { withRetry } from '../core/retry.ts'
import { readRecord, requestRecordOf, requireSameBody, type KeyedRequest } from './request-record.ts'

/** What is done to one stream. */
export type IdempotentAction<Made> = {
  readonly diamond: number
  readonly origin: Origin
  /** @param wish names what is wanted: made again under the same name, it is found and not repeated */
  readonly execute: (commandId: string) => Promise<Made>
  /** What the first one made, of whom there is a record. */
  readonly replay: (commandId: string) => Promise<Made>
  readonly compensate: (made: Made) => Promise<unknown>
}

/**
 * Does one thing to one stream once for a key, and then keeps a record of it: a repeat finds the record, or, where the
 * process died before it, its own event. Unlike `handleAll` nothing is promised before it is done: what is attached has
 * a file, which nobody would hold until somebody keeps the promise.
 * @throws Refusal invalid when the key was used for another body, and what `make` throws
 */
export function handleIdempotent<Made>(
  context: CommandContext,
  keyed: KeyedRequest,
  { diamond, origin, execute, replay, compensate }: IdempotentAction<Made>,
): Promise<Made> {
  const { store, queue, clock } = context
  const record = requestRecordOf(keyed)
  const { stream, body } = record
  const commandIdAt = (before: Revision) => `${stream}/${before}/${body}`
  return queue.run(stream, () =>
    withRetry({ on: [WrongRevision] }, async () => {
      const { existing, revision: expected } = await readRecord(context, record)
      if (existing !== undefined) {
        requireSameBody(decode<RequestDone>(existing), body)
        return replay(commandIdAt(previousRevision(existing)))
      }
      const made = await execute(commandIdAt(expected))
      const data: RequestDone['data'] = { body, diamonds: [diamond] }
      const done = createEventFactory(origin, clock())(randomUUID(), { type: 'RequestDone', data })
      try {
        await appendAll(context, [{ stream, expected, events: [done] }])
        return made
      } catch (error) {
        // Another process was first: by the same body, which made the same, or by another one under the same key.
        const [first] = error instanceof WrongRevision ? await store.read(stream, { last: 1 }) : []
        if (first !== undefined && decode<RequestDone>(first).data.body !== body) await compensate(made)
        throw error
      }
    }),
  )
}

const previousRevision = ({ revision }: StoredEvent): Revision => (revision === 0n ? 'none' : revision - 1n)
