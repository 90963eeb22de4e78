import { randomUUID } from 'node:crypto'
import { timeOf } from '../core/load.ts'
import { toAppend } from '../core/stamp.ts'
import { tries } from '../core/tries.ts'
import { digestOf } from '../bulk/bulk.ts'
import { carryOut } from '../bulk/carry-out.ts'
import { diamondStream } from '../../domain/diamond/streams.ts'
import { WrongRevision, type Append, type EventStore, type Position } from '../../stores/ports/event-store.ts'
import { births } from './create-diamonds.ts'
import type { By, Inventory } from './diamonds.ts'
import { takingBack, type TakingBack } from './take-back.ts'

/** A diamond that was changed since by somebody else. */
export type ChangedSince = Extract<TakingBack, { kind: 'changed since' }> & { readonly id: number }

export type ToUndo = {
  /** Says that it was taken back, and keeps it from being taken back twice. */
  readonly record: string
  /** Of what is to be taken back. */
  readonly correlation: string
  readonly diamonds: readonly number[]
}

/** How many diamonds came back, are as before, and went; had nothing to be taken back, and were left. */
export type Undone = {
  readonly created: number
  readonly changed: number
  readonly deleted: number
  readonly unchanged: number
  /** Changed since by somebody else. */
  readonly refused: number
  readonly position: Position | undefined
}

/** Only another process can come between loading and appending: rare and short. */
const ATTEMPTS = 5

/** Those of the diamonds that can't be taken back without undoing what somebody did since. @throws StoreUnavailable */
export async function changedSince(store: EventStore, { correlation, diamonds }: ToUndo): Promise<ChangedSince[]> {
  const found = await foundOf(store, { correlation, diamonds })
  return found.flatMap(({ id, back }) => (back.kind === 'changed since' ? [{ id, ...back }] : []))
}

/**
 * Takes back what was done to these diamonds under a correlation id, all or none, and keeps a record of it. Those that were
 * changed since stay as they are.
 * @throws WrongRevision of the record where it was taken back before; OutcomeUnknown, StoreUnavailable
 */
export async function undoChanges(inventory: Inventory, { owner, origin }: By, wanted: ToUndo): Promise<Undone> {
  const isTriedAgain = tries(ATTEMPTS)
  for (;;) {
    const found = await foundOf(inventory.store, wanted)
    const born = await births(inventory, {
      owner,
      origin,
      entries: found.flatMap(({ back }) => (back.kind === 'create' ? [back.fields] : [])),
    })
    const now = Math.max(inventory.clock(), ...found.map(({ at }) => at))
    const changes = found.flatMap(({ id, back, revision }): Append[] => {
      if (back.kind !== 'delete' && back.kind !== 'change') return []
      const events = toAppend({ id: randomUUID(), origin }, back.events, now)
      return [{ stream: diamondStream(id), expected: revision, events }]
    })
    for (const { stream } of changes) inventory.states.forget(stream)
    const { record: stream, diamonds } = wanted
    const bulk = { stream, expected: 'none' as const, body: digestOf(stream), diamonds, metadata: born.metadata }
    try {
      const position = await carryOut(inventory, { ...bulk, appends: [...born.appends, ...changes] })
      const of = (kind: TakingBack['kind']) => found.filter(({ back }) => back.kind === kind).length
      return {
        created: of('create'),
        changed: of('change'),
        deleted: of('delete'),
        unchanged: of('nothing'),
        refused: of('changed since'),
        position,
      }
    } catch (error) {
      if (!(error instanceof WrongRevision) || error.stream === stream || !isTriedAgain(error)) throw error
    }
  }
}

type Found = { readonly id: number; readonly back: TakingBack; readonly revision: bigint; readonly at: number }

const foundOf = (store: EventStore, { correlation, diamonds }: Omit<ToUndo, 'record'>): Promise<Found[]> =>
  Promise.all(
    diamonds.map(async (id) => {
      const stored = await store.read(diamondStream(id))
      const last = stored.at(-1)
      return { id, back: takingBack(stored, correlation), revision: last?.revision ?? 0n, at: timeOf(last) }
    }),
  )
