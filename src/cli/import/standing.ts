import { diamondDecider, diamondStream } from '../../domain/diamond/diamond.ts'
import type { RequestDone } from '../../domain/bulk/bulk.ts'
import { decode } from '../../events/decode.ts'
import { eventId } from '../../events/origin.ts'
import { bulkStream } from '../../commands/bulk/request.ts'
import { finishBulk } from '../../commands/bulk/handle-all.ts'
import type { Writing } from '../../commands/core/handle.ts'

/** Stones that are written together, all or none. */
export const BULK = 500

/** The record of an import's bulk, counted from 0. */
export const recordOf = (id: string, bulk: number): string => bulkStream('import', id, bulk)

/** What a bulk was found to have done: the diamonds, and when (ISO 8601). */
export type DoneBulk = { readonly diamonds: readonly number[]; readonly at: string }

/** What was done under a record; one that was accepted and not done is finished first. Undefined where there is none. */
export async function doneBulk(writing: Writing, record: string): Promise<DoneBulk | undefined> {
  await finishBulk(writing, record)
  const [last] = await writing.store.read(record, { last: 1 })
  if (last?.type !== 'RequestDone') return undefined
  return { diamonds: decode<RequestDone>(last).data.diamonds, at: last.metadata['at'] ?? '' }
}

/** What an import has done, bulk by bulk. */
export async function* doneBulks(writing: Writing, id: string): AsyncGenerator<DoneBulk> {
  for (let bulk = 0; ; bulk++) {
    const done = await doneBulk(writing, recordOf(id, bulk))
    if (done === undefined) return
    yield done
  }
}

/** Where an import of new stones begins. */
export type Standing = {
  readonly id: string
  /** Bulks that an earlier run has written. */
  readonly done: number
  /** When the last of them was, ISO 8601; undefined without one. */
  readonly at: string | undefined
}

/**
 * Whether this very file was imported before, or was begun to be: the import's id is made of the account and the file, so
 * that a run that was killed is found by the next one. Where none of its stones is left, it counts no more.
 * @param digest of the file and what was read of it
 * @param bulks of the whole import
 * @param again a whole one counts no more either
 */
export async function standingOf(
  writing: Writing,
  { account, digest, bulks, again }: { account: number; digest: string; bulks: number; again: boolean },
): Promise<Standing> {
  for (let time = 1; ; time++) {
    const id = eventId(`import/${account}/${digest}/${BULK}`, time)
    let at: string | undefined
    let done = 0
    let isStanding = false
    for await (const bulk of doneBulks(writing, id)) {
      done++
      at = bulk.at
      isStanding ||= await isAnyLeft(writing, bulk.diamonds)
    }
    if (done === 0 || (isStanding && !(again && done >= bulks))) return { id, done, at }
  }
}

async function isAnyLeft({ store, states }: Writing, diamonds: readonly number[]): Promise<boolean> {
  for (const id of diamonds) {
    const { state } = await states.load(store, diamondStream(id), diamondDecider)
    if (state.status === 'live') return true
  }
  return false
}
