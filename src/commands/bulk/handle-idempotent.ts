import { randomUUID } from 'node:crypto'
import type { RequestDone } from '../../domain/bulk/bulk.ts'
import { decode } from '../../events/decode.ts'
import { toEventMetadata, type Origin } from '../../events/event-metadata.ts'
import { WrongRevision, type Revision, type StoredEvent } from '../../stores/ports/event-store.ts'
import { appendAll } from '../core/append.ts'
import type { CommandContext } from '../core/command-context.ts'
import { withRetry } from '../core/retry.ts'
import { readRecord, requestDoneEvent, requestRecordOf, requireSameBody, type KeyedRequest } from './request-record.ts'

export type IdempotentAction<Result> = {
  readonly diamond: number
  readonly origin: Origin
  /** @param commandId a repeat with the same id finds the earlier events instead of executing again */
  readonly execute: (commandId: string) => Promise<Result>
  /** Returns the result of an earlier execution that has a record. */
  readonly replay: (commandId: string) => Promise<Result>
  readonly compensate: (result: Result) => Promise<unknown>
}

/**
 * Executes a command on one stream once per idempotency key, then stores a record. A repeat finds the record or, if the
 * process died before storing it, the command's own events. Unlike `handleBulk` it never stores an accepted request
 * before executing it: an attachment refers to a file, which would not be held until another process completed the
 * request.
 * @throws RequestError 'invalid' if the key was used with a different body, and whatever `execute` throws
 */
export function handleIdempotent<Result>(
  context: CommandContext,
  request: KeyedRequest,
  { diamond, origin, execute, replay, compensate }: IdempotentAction<Result>,
): Promise<Result> {
  const { store, queue, clock } = context
  const record = requestRecordOf(request)
  const { stream, body } = record
  const commandIdAt = (before: Revision) => `${stream}/${before}/${body}`
  return queue.run(stream, () =>
    withRetry({ on: [WrongRevision] }, async () => {
      const { existing, revision: expected } = await readRecord(context, record)
      if (existing !== undefined) {
        requireSameBody(decode<RequestDone>(existing), body)
        return replay(commandIdAt(previousRevision(existing)))
      }
      const result = await execute(commandIdAt(expected))
      const data = { body, diamonds: [diamond] }
      const done = requestDoneEvent(data, randomUUID(), toEventMetadata(origin, clock()))
      try {
        await appendAll(context, [{ stream, expected, events: [done] }])
        return result
      } catch (error) {
        // Another process stored its record first: with the same body, then it found the same events, or with a
        // different one.
        const [concurrentRecord] = error instanceof WrongRevision ? await store.readStream(stream, { last: 1 }) : []
        if (concurrentRecord !== undefined && decode<RequestDone>(concurrentRecord).data.body !== body)
          await compensate(result)
        throw error
      }
    }),
  )
}

const previousRevision = ({ revision }: StoredEvent): Revision => (revision === 0n ? 'none' : revision - 1n)
