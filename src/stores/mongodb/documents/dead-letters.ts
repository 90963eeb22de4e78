import type { Collection, Db } from 'mongodb'
import { comparePositions } from '../../ports/event-store.ts'
import type { DeadLetter } from '../../ports/read-store.ts'
import { isDuplicate } from '../failure.ts'

/** `_id`: build, stream, revision. */
type Held = Omit<DeadLetter, 'position'> & { readonly _id: string; readonly build: string } & DeadLetter['position']

/** The dead letters of one build. */
export type DeadLetters = {
  all(): Promise<DeadLetter[]>
  streams(): Promise<ReadonlySet<string>>
  /** Adding one again changes nothing. */
  add(letters: readonly DeadLetter[]): Promise<void>
  remove(stream: string): Promise<void>
  removeAll(): Promise<void>
}

export function deadLettersOf(db: Db, build: string): DeadLetters {
  const letters: Collection<Held> = db.collection('dead_letters')
  return {
    async all() {
      const found = await letters.find({ build }).toArray()
      return found.map(letterOf).sort((a, b) => comparePositions(a.position, b.position))
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

const documentOf = (build: string, { position, ...letter }: DeadLetter): Held => ({
  _id: `${build}/${letter.stream}/${letter.revision}`,
  build,
  ...letter,
  commit: position.commit,
  prepare: position.prepare,
})

const letterOf = ({ stream, revision, commit, prepare, event, type, reason }: Held): DeadLetter => ({
  stream,
  revision,
  position: { commit, prepare },
  event,
  type,
  reason,
})
