import type { Collection, Db } from 'mongodb'
import { comparePositions, StoreUnavailable, type PositionOrStart } from '../../ports/event-store.ts'
import type { Checkpoint, DeadLetter, ModelDeclaration } from '../../ports/read-store.ts'
import { insertIfAbsent } from '../linearizable-reads.ts'
import { isDuplicate, STORE } from '../failure.ts'
import { decodePosition, encodeCheckpoint, type CheckpointDocument } from '../position-documents.ts'

/** `_id`: build, stream, revision. */
type DeadLetterDocument = Omit<DeadLetter, 'position'> & {
  readonly _id: string
  readonly build: string
} & DeadLetter['position']

type DeadLetterStore = {
  all(): Promise<DeadLetter[]>
  streams(): Promise<ReadonlySet<string>>
  /** Idempotent. */
  add(letters: readonly DeadLetter[]): Promise<void>
  remove(stream: string): Promise<void>
  removeAll(): Promise<void>
}

export function deadLettersOf(db: Db, build: string): DeadLetterStore {
  const letters: Collection<DeadLetterDocument> = db.collection('dead_letters')
  return {
    async all() {
      const found = await letters.find({ build }).toArray()
      return found.map(decodeDeadLetter).sort((a, b) => comparePositions(a.position, b.position))
    },
    streams: async () => new Set(await letters.distinct('stream', { build })),
    async add(added) {
      if (added.length === 0) return
      try {
        await letters.insertMany(
          added.map((letter) => documentOf(build, letter)),
          { ordered: false },
        )
      } catch (error) {
        if (!isDuplicate(error)) throw error
      }
    },
    remove: async (stream) => void (await letters.deleteMany({ build, stream })),
    removeAll: async () => void (await letters.deleteMany({ build })),
  }
}

const documentOf = (build: string, { position, ...letter }: DeadLetter): DeadLetterDocument => ({
  _id: `${build}/${letter.stream}/${letter.revision}`,
  build,
  ...letter,
  commit: position.commit,
  prepare: position.prepare,
})

const decodeDeadLetter = ({
  stream,
  revision,
  commit,
  prepare,
  event,
  type,
  reason,
}: DeadLetterDocument): DeadLetter => ({
  stream,
  revision,
  position: { commit, prepare },
  event,
  type,
  reason,
})

/** A build's progress. The build exists if and only if this document does. */
export type BuildProgressDocument = {
  readonly _id: string
  /** Optimistic concurrency: each change requires the version that was read and increases it. */
  readonly version: number
  readonly model: string
  readonly modelVersion: number
  readonly checkpoint: CheckpointDocument | null
  readonly parked: boolean
  /** Milliseconds since 1970 of the last change; identifies abandoned builds. */
  readonly changedAt: number
}

export const progressesIn = (db: Db): Collection<BuildProgressDocument> =>
  db.collection<BuildProgressDocument>('builds')

export const addProgress = (
  progressCollection: Collection<BuildProgressDocument>,
  id: string,
  { name, version }: ModelDeclaration,
) =>
  insertIfAbsent(progressCollection, {
    _id: id,
    version: 1,
    model: name,
    modelVersion: version,
    checkpoint: null,
    parked: false,
    changedAt: Date.now(),
  })

/** @throws StoreUnavailable if the build was deleted; the caller must open the live build again */
export async function readProgress(
  progressCollection: Collection<BuildProgressDocument>,
  id: string,
): Promise<BuildProgressDocument> {
  const progress = await progressCollection.findOne({ _id: id })
  if (progress === null) throw new StoreUnavailable(`build ${id} of a read model was deleted`, { store: STORE })
  return progress
}

export const positionReachedBy = ({ checkpoint }: BuildProgressDocument): PositionOrStart =>
  checkpoint === null ? 'start' : decodePosition(checkpoint)

/**
 * Whether a batch up to `next` still has to be written.
 * @throws Error if the checkpoint belongs to another log
 */
export function isCheckpointAhead({ checkpoint }: BuildProgressDocument, next: Checkpoint): boolean {
  if (checkpoint === null) return true
  if (checkpoint.log !== next.log)
    throw new Error(`this build belongs to log ${checkpoint.log}, not to ${next.log}: rebuild the read model`)
  return comparePositions(next.position, decodePosition(checkpoint)) >= 0
}

/** @returns the stored progress; undefined if another process was first */
export async function advance(
  progressCollection: Collection<BuildProgressDocument>,
  progress: BuildProgressDocument,
  { checkpoint, parked }: { readonly checkpoint: Checkpoint; readonly parked: boolean },
): Promise<BuildProgressDocument | undefined> {
  const { _id, version, ...rest } = progress
  const changed = { checkpoint: encodeCheckpoint(checkpoint), parked: progress.parked || parked, changedAt: Date.now() }
  const next = { ...rest, ...changed, version: version + 1 }
  const replaced = await progressCollection.replaceOne({ _id, version }, next)
  return replaced.matchedCount === 1 ? { ...next, _id } : undefined
}
