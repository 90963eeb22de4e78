import { LogClosed, WrongRevision, type Position } from '../../ports/event-store.ts'
import { StorageWriter, type StorageWriterOptions } from '../storage-thread.ts'
import type { EncodedAppend } from './encoding.ts'
import { lastWritten, type AppendCall, type AppendOutcome } from './log-writer.ts'
import { positionAt } from './rows.ts'

/** The events written by one transaction: all positions after `before`, up to and including `head`. */
export type CommittedGroup = {
  readonly before: number
  readonly head: number
  readonly appends: readonly { readonly append: EncodedAppend; readonly last: number }[]
}

/** Events per write transaction at most; a single call may exceed it. */
const MAX_EVENTS_PER_TRANSACTION = 500

function countForTransaction(calls: readonly AppendCall[]): number {
  let events = 0
  const firstBeyond = calls.findIndex((appends, index) => {
    for (const append of appends) events += append.events.length
    return index > 0 && events > MAX_EVENTS_PER_TRANSACTION
  })
  return firstBeyond < 0 ? calls.length : firstBeyond
}

/** @returns undefined if nothing was stored */
function toCommittedGroup(
  calls: readonly AppendCall[],
  outcomes: readonly (readonly AppendOutcome[])[],
): CommittedGroup | undefined {
  const appends = calls.flatMap((call, index) => {
    const ofCall = outcomes[index] ?? []
    if (lastWritten(ofCall) === undefined) return []
    return call.flatMap((append, at) => {
      const outcome = ofCall[at]
      return outcome?.kind === 'written' ? [{ append, last: outcome.last }] : []
    })
  })
  const [first] = appends
  const head = appends.at(-1)?.last
  if (first === undefined || head === undefined) return undefined
  return { before: first.last - first.append.events.length, head, appends }
}

type EventWriterOptions = Pick<StorageWriterOptions, 'file' | 'thread' | 'warn'> & {
  /** Called after a commit, before the callers' promises resolve. */
  readonly onCommitted: (group: CommittedGroup) => void
}

/** Appends to the log by its storage thread. */
export class EventWriter {
  readonly #writer: StorageWriter<AppendCall, readonly AppendOutcome[]>
  #events = 0

  constructor({ onCommitted, ...options }: EventWriterOptions) {
    this.#writer = new StorageWriter({
      ...options,
      countForTransaction,
      onCommitted: (calls, outcomes) => {
        const group = toCommittedGroup(calls, outcomes)
        if (group === undefined) return
        this.#events += group.head - group.before
        onCommitted(group)
      },
    })
  }

  get stats() {
    return { ...this.#writer.stats, events: this.#events }
  }

  /** Why the disk rejects writes now, if it does. */
  diskError(): Promise<string | undefined> {
    return this.#writer.diskError()
  }

  /** Limits the file to this many pages of 4 KiB, to simulate a full disk. */
  limitPages(pages: number): Promise<void> {
    return this.#writer.limitPages(pages)
  }

  /** Resolves once everything is written and the thread has closed the file. */
  close(): Promise<void> {
    return this.#writer.close()
  }

  get isWriting(): boolean {
    return this.#writer.isWriting
  }

  /**
   * Resolves once all are durable, with the position of each append's last event.
   * @throws WrongRevision, LogClosed, StoreUnavailable, OutcomeUnknown
   */
  async write(appends: AppendCall): Promise<Position[]> {
    const outcomes = await this.#writer.write(appends)
    return outcomes.map((outcome, index) => {
      if (outcome.kind === 'closed') throw new LogClosed(outcome.reason)
      if (outcome.kind !== 'wrong revision') return positionAt(outcome.last)
      const { stream = '', expected = 'none' } = appends[index] ?? {}
      throw new WrongRevision(stream, expected, outcome.actual)
    })
  }
}
