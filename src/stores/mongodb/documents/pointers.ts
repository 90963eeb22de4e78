import type { ModelDeclaration } from '../../ports/read-store.ts'
import { StoreUnavailable } from '../../ports/event-store.ts'
import { confirmed } from '../confirmed.ts'
import type { Mongo } from '../connection.ts'
import { inserted } from '../inserted.ts'

/** Which build of each model's version is live. */
export type Pointers = {
  /** At most so old as POINTER_AGE, in milliseconds; what this process has pointed at, at once. */
  live(declaration: ModelDeclaration): Promise<string | undefined>
  /** Makes a build live where none is. @returns the live build, of whoever was first */
  claim(declaration: ModelDeclaration, build: string): Promise<string>
  point(declaration: ModelDeclaration, build: string): Promise<void>
  all(): Promise<ReadonlySet<string>>
}

/**
 * Milliseconds for which a pointer is not read again: reading costs one call, not two. An answer from the build before
 * is as right: it stays for a minute, and who waits for a write looks at the build that it will read.
 */
export const POINTER_AGE = 100

type Pointer = { readonly _id: string; readonly build: string }

const nameOf = ({ name, version }: ModelDeclaration) => `${name}-v${version}`

/** @param now milliseconds that never go back */
export function pointersIn(mongo: Mongo, now: () => number): Pointers {
  const { db, call } = mongo
  const pointers = db.collection<Pointer>('read_models')
  const known = new Map<string, { readonly build: string; readonly readAt: number }>()

  async function read(name: string): Promise<string | undefined> {
    const readAt = now()
    const found = await call(() => pointers.findOne({ _id: name }))
    if (found !== null) known.set(name, { build: found.build, readAt })
    return found?.build
  }

  return {
    async live(declaration) {
      const name = nameOf(declaration)
      const pointer = known.get(name)
      return pointer !== undefined && now() - pointer.readAt < POINTER_AGE ? pointer.build : read(name)
    },
    async claim(declaration, build) {
      const name = nameOf(declaration)
      if (await call(() => inserted(pointers, { _id: name, build }))) return build
      const found = await confirmed(mongo, (options) => pointers.findOne({ _id: name }, options))
      if (found === null) throw new StoreUnavailable(`the pointer of ${name} was there, and is gone`)
      return found.build
    },
    async point(declaration, build) {
      const name = nameOf(declaration)
      await call(() => pointers.replaceOne({ _id: name }, { build }, { upsert: true }))
      known.set(name, { build, readAt: now() })
    },
    all: () => call(async () => new Set((await pointers.find().toArray()).map(({ build }) => build))),
  }
}
