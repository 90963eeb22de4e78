import type { CertificationRemoved } from '../../domain/certification/certification.ts'
import type { StoneModelRemoved } from '../../domain/diamond/stone-model.ts'
import { IMPORTS_STREAM_PREFIX, type ImportFilesReleased } from '../../domain/imports/stock-import.ts'
import { LOG_STREAM } from '../../domain/installation/read-only-state.ts'
import { decode, isDecodeError } from '../../events/decode.ts'
import { eventTimeOf } from '../../events/event-metadata.ts'
import type { ProjectionProgress } from '../../projections/engine/progress.ts'
import { defineReaction } from '../../projections/engine/reaction.ts'
import { defineScheduledJob, type ScheduledJob } from '../../projections/engine/loop.ts'
import type { AppLogger } from '../../runtime/logger.ts'
import type { EventStore, StoredEvent } from '../../stores/ports/event-store.ts'
import type { FileStore } from '../../stores/ports/file-store.ts'
import type { ReadModel } from '../../stores/ports/read-store.ts'

type TouchTokenObservation = { readonly touchToken: string; readonly since: number }

/** Measures for how long files have been unchanged, on the process's own clock. */
class UnchangedFileTracker {
  readonly #observations = new Map<string, TouchTokenObservation>()

  /** @param monotonic milliseconds of a clock that never goes back */
  constructor(private readonly monotonic: () => number = () => performance.now()) {}

  /** Milliseconds since the file was first seen with this touch token; 0 for a new one. */
  unchangedMs(name: string, touchToken: string): number {
    const now = this.monotonic()
    const observation = this.#observations.get(name)
    if (observation?.touchToken === touchToken) return now - observation.since
    this.#observations.set(name, { touchToken, since: now })
    return 0
  }

  /** Forgets all other names. */
  retain(names: ReadonlySet<string>): void {
    for (const name of this.#observations.keys()) if (!names.has(name)) this.#observations.delete(name)
  }
}

type FileGarbageCollectorOptions = {
  readonly files: FileStore
  readonly store: EventStore
  /** The read models with references to files, the fields with their digests, and their progress. */
  readonly referencingModels: readonly {
    readonly model: ReadModel
    readonly digestFields: readonly string[]
    readonly progress: ProjectionProgress
  }[]
  /** Checks that the log was not rolled back while this process was running. @throws LogRolledBack, StoreUnavailable */
  readonly requireLogUnchanged: () => Promise<void>
  readonly log: AppLogger
}

/**
 * Milliseconds that a file must have been seen untouched before it is removed: four touch intervals. With
 * DUE_INTERVAL_MS, the file of a removed certification is deleted within 2 s. A process that pauses for longer while it
 * holds a file restores it (file-store.ts).
 */
const GRACE_MS = 1_000
/** Milliseconds between two checks of files that are due. */
const DUE_INTERVAL_MS = 100
/** Milliseconds between two checks for leftovers, and between two sweeps through all files. */
const LEFTOVERS_INTERVAL_MS = 2_000
const SWEEP_INTERVAL_MS = 600_000
/**
 * Files removed in one round. The log names the files of two bulk deletions of 500 diamonds within a round's time; a sweep
 * that finds this many, without a removal in the log, may mean that files or events were lost.
 */
const MAX_REMOVED_PER_ROUND = 1_000
/** Milliseconds between two checks for a shutdown while a sweep waits for a read model. */
const READ_MODEL_WAIT_MS = 500

/**
 * Removes files without a reference that have not been touched for a while. Candidates come from removal events, and
 * from a sweep through all files at the start and every ten minutes, which finds what a crash left. A file is in use if
 * one of the read models, having reached the log's head after the file's last touch, refers to it, or if any event of a
 * stream parked by such a model names its digest. Nothing is removed if the log may not be the one that the files belong
 * to: a sweep leaves files that are older than the log, and no file is removed after the log was rolled back.
 */
export class FileGarbageCollector {
  readonly #candidates = new Set<string>()
  readonly #candidateTracker = new UnchangedFileTracker()
  readonly #leftoverTracker = new UnchangedFileTracker()

  constructor(private readonly options: FileGarbageCollectorOptions) {}

  /** Makes the file of a removed certification or model, or those of an import, candidates. */
  markUnreferenced(removalEvent: StoredEvent): void {
    for (const digest of removedDigestsOf(removalEvent)) this.#candidates.add(digest)
  }

  /** Makes unreferenced files candidates, once the read models have reached the current head. */
  async sweep(signal: AbortSignal): Promise<void> {
    const { files, store, referencingModels, log } = this.options
    const head = await store.head()
    for (const { progress } of referencingModels)
      while (!(await progress.waitForPosition(head, READ_MODEL_WAIT_MS))) if (signal.aborted) return
    const [logCreated] = await store.readStream(LOG_STREAM)
    if (logCreated === undefined) return
    const counts = { found: 0, olderThanLog: 0, left: 0 }
    for await (const { digest, touchedAt } of files.list()) {
      if (signal.aborted) return
      if (await this.#isUsed(digest)) continue
      if (touchedAt < eventTimeOf(logCreated)) counts.olderThanLog++
      else if (counts.found === MAX_REMOVED_PER_ROUND) counts.left++
      // A recently touched file becomes a candidate too: it is checked again after the grace period.
      else {
        counts.found++
        this.#candidates.add(digest)
      }
    }
    if (counts.olderThanLog > 0)
      log.warn(
        counts,
        'files that nothing refers to are kept, because they are older than the log: they may belong to another one',
      )
    if (counts.left > 0)
      log.warn(
        counts,
        `more than ${MAX_REMOVED_PER_ROUND} files were found that nothing refers to: the rest is removed by the next sweeps, one every ` +
          `${SWEEP_INTERVAL_MS / 60_000} minutes. If files or events were lost, stop the service and restore them`,
      )
  }

  /** Removes candidates known before the head was read; the read models may not cover later ones yet. */
  async collectDue(): Promise<void> {
    if (this.#candidates.size === 0) return
    const candidates = new Set(this.#candidates)
    this.#candidates.clear()
    try {
      const untouched = await this.#findUntouched(candidates)
      if (untouched.size > 0 && (await this.#isUpToDate())) await this.#collect(untouched, candidates)
    } finally {
      for (const digest of candidates) this.#candidates.add(digest)
      this.#candidateTracker.retain(this.#candidates)
    }
  }

  /** Candidates untouched for long enough, with their touch tokens; missing files are dropped from `candidates`. */
  async #findUntouched(candidates: Set<string>): Promise<Map<string, string>> {
    const untouched = new Map<string, string>()
    for (const digest of candidates) {
      const touchToken = await this.options.files.readTouchToken(digest)
      if (touchToken === undefined) candidates.delete(digest)
      else if (this.#candidateTracker.unchangedMs(digest, touchToken) >= GRACE_MS) untouched.set(digest, touchToken)
    }
    return untouched
  }

  async #isUpToDate(): Promise<boolean> {
    const { store, referencingModels } = this.options
    const head = await store.head()
    for (const { progress } of referencingModels) if (!(await progress.waitForPosition(head, 0))) return false
    return true
  }

  /** Leaves in `candidates` what must be checked again. */
  async #collect(untouched: ReadonlyMap<string, string>, candidates: Set<string>): Promise<void> {
    const { files, log, requireLogUnchanged } = this.options
    const referencedDigests = await this.#digestsInParkedStreams()
    if (untouched.size > MAX_REMOVED_PER_ROUND)
      log.info(
        { due: untouched.size, removed: MAX_REMOVED_PER_ROUND },
        'nothing refers to many files since their certifications or models were removed: the rest follows in the next rounds',
      )
    await requireLogUnchanged()
    for (const [digest, touchToken] of [...untouched].slice(0, MAX_REMOVED_PER_ROUND)) {
      const isUsed = referencedDigests.has(digest) || (await this.#isUsed(digest))
      const outcome = isUsed ? 'used' : await files.remove(digest, touchToken)
      if (outcome !== 'touched') candidates.delete(digest)
      if (outcome === 'removed') log.info({ digest }, 'an unreferenced file was removed')
    }
  }

  /** All digests in events of parked streams, in whatever member: events refer to files by digest. */
  async #digestsInParkedStreams(): Promise<ReadonlySet<string>> {
    const { referencingModels, store } = this.options
    const referencedDigests = new Set<string>()
    const parked = await Promise.all(referencingModels.map(({ model }) => model.parkedStreams()))
    for (const stream of new Set(parked.flatMap((streams) => [...streams]))) {
      for (const { data } of await store.readStream(stream)) {
        for (const [digest] of JSON.stringify(data).matchAll(DIGEST_PATTERN))
          referencedDigests.add(digest.toLowerCase())
      }
    }
    return referencedDigests
  }

  async #isUsed(digest: string): Promise<boolean> {
    for (const { model, digestFields } of this.options.referencingModels)
      for (const field of digestFields) if ((await model.count({ [field]: digest })) > 0) return true
    return false
  }

  /** @returns whether a file of an interrupted removal was restored: a sweep then decides on it again */
  async clearLeftovers(): Promise<boolean> {
    const { files, log } = this.options
    const names = new Set<string>()
    let removed = 0
    let isAnyRestored = false
    for await (const leftover of files.temporaryFiles()) {
      const { name, touchToken, abandonedAfterMs } = leftover
      names.add(name)
      if (this.#leftoverTracker.unchangedMs(name, touchToken) < abandonedAfterMs) continue
      if (await files.removeTemporaryFile(leftover)) removed++
      if (leftover.restoredDigest !== undefined) isAnyRestored = true
    }
    this.#leftoverTracker.retain(names)
    if (removed > 0) log.info({ removed }, 'unfinished uploads of a terminated process were removed')
    return isAnyRestored
  }
}

type FileGarbageCollectionTools = {
  readonly collector: FileGarbageCollector
  /** Starts the next round of a scheduled job now. */
  readonly wake: (routine: string) => void
}

const sweep = defineScheduledJob<FileGarbageCollectionTools>({
  name: 'files-sweep',
  intervalMs: SWEEP_INTERVAL_MS,
  createRound:
    ({ collector }) =>
    (signal) =>
      collector.sweep(signal),
})

const collectDue = defineScheduledJob<FileGarbageCollectionTools>({
  name: 'files-due',
  intervalMs: DUE_INTERVAL_MS,
  createRound:
    ({ collector }) =>
    () =>
      collector.collectDue(),
})

const clearLeftovers = defineScheduledJob<FileGarbageCollectionTools>({
  name: 'files-leftovers',
  intervalMs: LEFTOVERS_INTERVAL_MS,
  createRound:
    ({ collector, wake }) =>
    async () => {
      if (await collector.clearLeftovers()) wake(sweep.name)
    },
})

export const FILE_GARBAGE_COLLECTION_JOBS: readonly ScheduledJob<FileGarbageCollectionTools>[] = [
  sweep,
  collectDue,
  clearLeftovers,
]

export type FileRemovalTools = FileGarbageCollectionTools & {
  readonly store: Pick<EventStore, 'head'>
}

/** Handles removals from the head of the log on; the sweep that it starts finds earlier ones. */
export const fileRemovals = defineReaction<FileRemovalTools>({
  name: 'files',
  streamPrefixes: ['diamond-', IMPORTS_STREAM_PREFIX],
  eventTypes: [
    'CertificationRemoved',
    'StoneModelRemoved',
    'ImportRead',
    'ImportApplied',
    'ImportFailed',
    'ImportExpired',
    'ImportDeleted',
  ],
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

/** None for an event that can't be decoded; the next sweep finds the file. */
function removedDigestsOf(event: StoredEvent): readonly string[] {
  try {
    const { data } = decode<CertificationRemoved | StoneModelRemoved | ImportFilesReleased>(event)
    if ('released' in data) return data.released
    return data.digest === null ? [] : [data.digest]
  } catch (error) {
    if (isDecodeError(error)) return []
    throw error
  }
}
