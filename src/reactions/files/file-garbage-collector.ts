import type { CertificationRemoved } from '../../domain/certification/certification.ts'
import type { StoneModelRemoved } from '../../domain/diamond/stone-model.ts'
import { decode, isDecodeError } from '../../events/decode.ts'
import type { ProjectionProgress } from '../../projections/engine/progress.ts'
import { defineReaction } from '../../projections/engine/reaction.ts'
import { defineScheduledJob, type ScheduledJob } from '../../projections/engine/loop.ts'
import type { AppLogger } from '../../runtime/logger.ts'
import type { EventStore, StoredEvent } from '../../stores/ports/event-store.ts'
import type { FileStore } from '../../stores/ports/file-store.ts'
import type { ReadModel } from '../../stores/ports/read-store.ts'

type MarkObservation = { readonly mark: string; readonly since: number }

/** For how long things have been seen as they are, by the clock of whoever looks. */
class MarkTracker {
  readonly #seen = new Map<string, MarkObservation>()

  /** @param monotonic milliseconds that never go back */
  constructor(private readonly monotonic: () => number = () => performance.now()) {}

  /** Milliseconds since it was first seen with this mark; 0 with a new one. */
  unchangedMs(name: string, mark: string): number {
    const now = this.monotonic()
    const seen = this.#seen.get(name)
    if (seen?.mark === mark) return now - seen.since
    this.#seen.set(name, { mark, since: now })
    return 0
  }

  /** What is not there any more need not be remembered. */
  retain(names: ReadonlySet<string>): void {
    for (const name of this.#seen.keys()) if (!names.has(name)) this.#seen.delete(name)
  }
}

export type FileGarbageCollectorOptions = {
  readonly files: FileStore
  readonly store: EventStore
  /** The read models that know which files are in use, by their `digest`, and how far each has come. */
  readonly referencingModels: readonly { readonly model: ReadModel; readonly progress: ProjectionProgress }[]
  readonly log: AppLogger
}

/**
 * Milliseconds that a file must have been seen untouched before it may go: four touches. With DUE, a removed
 * certification's file goes within 2 s. Whoever stands still for longer while he holds it puts it back (file-store.ts).
 */
const GRACE_MS = 1_000
/** Milliseconds between two looks at files that are due. */
const DUE_INTERVAL_MS = 100
/** Milliseconds between two looks for leftovers, and between two walks through all files. */
const LEFTOVERS_INTERVAL_MS = 2_000
const SWEEP_INTERVAL_MS = 600_000
/** Milliseconds between two looks at whether the service stops, while a walk waits for the read model. */
const READ_MODEL_WAIT_MS = 500

/**
 * Removes files that no certification and no stone's model refers to and nobody has touched for a while. It follows removals, and walks
 * through all files at the start and now and then, for what a crash left. A file is in use as long as one of the read models,
 * come to the head of the log after the file's last touch, knows something with it, or any event of a stream that the model
 * has set aside names it.
 */
export class FileGarbageCollector {
  readonly #due = new Set<string>()
  readonly #untouched = new MarkTracker()
  readonly #leftovers = new MarkTracker()

  constructor(private readonly options: FileGarbageCollectorOptions) {}

  /** Takes note of what is gone: its file may be used no more. */
  markUnreferenced(removed: StoredEvent): void {
    const digest = removedDigestOf(removed)
    if (digest !== null) this.#due.add(digest)
  }

  /** Looks at every file there is, with read models that know everything up to now. */
  async sweep(signal: AbortSignal): Promise<void> {
    const { files, store, referencingModels } = this.options
    const head = await store.head()
    for (const { progress } of referencingModels)
      while (!(await progress.waitForPosition(head, READ_MODEL_WAIT_MS))) if (signal.aborted) return
    for await (const { digest } of files.list()) {
      if (signal.aborted) return
      // One that was touched a moment ago is due as well: it goes, or is found in use, when its grace is over.
      if (!(await this.#isUsed(digest))) this.#due.add(digest)
    }
  }

  /** Removes what was due before the head was asked for: of removals noted since, the read model may not know. */
  async collectDue(): Promise<void> {
    if (this.#due.size === 0) return
    const due = new Set(this.#due)
    this.#due.clear()
    try {
      const untouched = await this.#untouchedOf(due)
      if (untouched.size > 0 && (await this.#isUpToDate())) await this.#collect(untouched, due)
    } finally {
      for (const digest of due) this.#due.add(digest)
      this.#untouched.retain(this.#due)
    }
  }

  /** Those that have been untouched for long enough, with their marks; what is not there is due no more. */
  async #untouchedOf(due: Set<string>): Promise<Map<string, string>> {
    const untouched = new Map<string, string>()
    for (const digest of due) {
      const mark = await this.options.files.readTouchToken(digest)
      if (mark === undefined) due.delete(digest)
      else if (this.#untouched.unchangedMs(digest, mark) >= GRACE_MS) untouched.set(digest, mark)
    }
    return untouched
  }

  async #isUpToDate(): Promise<boolean> {
    const { store, referencingModels } = this.options
    const head = await store.head()
    for (const { progress } of referencingModels) if (!(await progress.waitForPosition(head, 0))) return false
    return true
  }

  /** Leaves in `due` what has to be looked at again. */
  async #collect(untouched: ReadonlyMap<string, string>, due: Set<string>): Promise<void> {
    const { files, log } = this.options
    const named = await this.#digestsInParkedStreams()
    for (const [digest, mark] of untouched) {
      const isUsed = named.has(digest) || (await this.#isUsed(digest))
      const outcome = isUsed ? 'used' : await files.remove(digest, mark)
      if (outcome !== 'touched') due.delete(digest)
      if (outcome === 'removed') log.info({ digest }, 'a file that nothing uses was removed')
    }
  }

  /** What events of streams that were set aside name, in whatever words: an event names a file by its digest. */
  async #digestsInParkedStreams(): Promise<ReadonlySet<string>> {
    const { referencingModels, store } = this.options
    const named = new Set<string>()
    const parked = await Promise.all(referencingModels.map(({ model }) => model.parkedStreams()))
    for (const stream of new Set(parked.flatMap((streams) => [...streams]))) {
      for (const { data } of await store.read(stream)) {
        for (const [digest] of JSON.stringify(data).matchAll(DIGEST_PATTERN)) named.add(digest.toLowerCase())
      }
    }
    return named
  }

  async #isUsed(digest: string): Promise<boolean> {
    for (const { model } of this.options.referencingModels) if ((await model.count({ digest })) > 0) return true
    return false
  }

  async clearLeftovers(): Promise<void> {
    const { files, log } = this.options
    const there = new Set<string>()
    let removed = 0
    for await (const leftover of files.temporaryFiles()) {
      const { name, touchToken, abandonedAfterMs } = leftover
      there.add(name)
      if (this.#leftovers.unchangedMs(name, touchToken) < abandonedAfterMs) continue
      if (await files.removeTemporaryFile(leftover)) removed++
      if (leftover.restoredDigest !== undefined) this.#due.add(leftover.restoredDigest)
    }
    this.#leftovers.retain(there)
    if (removed > 0) log.info({ removed }, 'unfinished uploads of an ended process were removed')
  }
}

type FileGarbageCollectionTools = { readonly collector: FileGarbageCollector }

/** Walks through all files. */
const sweep = defineScheduledJob<FileGarbageCollectionTools>({
  name: 'files-sweep',
  intervalMs: SWEEP_INTERVAL_MS,
  createRound:
    ({ collector }) =>
    (signal) =>
      collector.sweep(signal),
})

/** Looks at files that are due. */
const collectDue = defineScheduledJob<FileGarbageCollectionTools>({
  name: 'files-due',
  intervalMs: DUE_INTERVAL_MS,
  createRound:
    ({ collector }) =>
    () =>
      collector.collectDue(),
})

/** Removes what unfinished uploads have left. */
const clearLeftovers = defineScheduledJob<FileGarbageCollectionTools>({
  name: 'files-leftovers',
  intervalMs: LEFTOVERS_INTERVAL_MS,
  createRound:
    ({ collector }) =>
    () =>
      collector.clearLeftovers(),
})

/** What a collector does by the clock. */
export const FILE_GARBAGE_COLLECTION_JOBS: readonly ScheduledJob<FileGarbageCollectionTools>[] = [
  sweep,
  collectDue,
  clearLeftovers,
]

export type FileRemovalTools = FileGarbageCollectionTools & {
  readonly store: Pick<EventStore, 'head'>
  /** Lets a routine do its next round now. */
  readonly wake: (routine: string) => void
}

/** Follows removals from the head on; what was removed before is found by a walk that begins then. */
export const fileRemovals = defineReaction<FileRemovalTools>({
  name: 'files',
  streamPrefixes: ['diamond-'],
  eventTypes: ['CertificationRemoved', 'StoneModelRemoved'],
  createSelfCheckpointedHandler: ({ collector, store, wake }) => ({
    async loadCheckpoint() {
      const position = await store.head()
      wake(sweep.name)
      return { position, event: null }
    },
    async handleBatch(events) {
      for (const event of events) collector.markUnreferenced(event)
    },
  }),
})

const DIGEST_PATTERN = /(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/gi

/** What can't be understood removes nothing; the next walk through all files looks at it. */
function removedDigestOf(event: StoredEvent): string | null {
  try {
    return decode<CertificationRemoved | StoneModelRemoved>(event).data.digest
  } catch (error) {
    if (isDecodeError(error)) return null
    throw error
  }
}
