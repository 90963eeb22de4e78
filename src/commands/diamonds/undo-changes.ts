import { diamondStream } from '../../domain/diamond/diamond.ts'
import type { EventStore, Position } from '../../stores/ports/event-store.ts'
import { handleAll } from '../bulk/handle-all.ts'
import { timeOf } from '../core/load.ts'
import { onceForGood } from './change-stock.ts'
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

/** Those of the diamonds that can't be taken back without undoing what somebody did since. @throws StoreUnavailable */
export async function changedSince(store: EventStore, { correlation, diamonds }: ToUndo): Promise<ChangedSince[]> {
  const found = await foundOf(store, { correlation, diamonds })
  return found.flatMap(({ id, back }) => (back.kind === 'changed since' ? [{ id, ...back }] : []))
}

/**
 * Takes back what was done to these diamonds under a correlation id, all or none, and keeps a record of it. Those that were
 * changed since stay as they are.
 * @throws DoneBefore, WrongRevision, OutcomeUnknown, StoreUnavailable
 */
export const undoChanges = (inventory: Inventory, { owner, origin }: By, wanted: ToUndo): Promise<Undone> =>
  handleAll(inventory, {
    origin,
    diamonds: wanted.diamonds,
    once: { ...onceForGood(wanted.record), ofNothing: true },
    async decide(now) {
      const found = await foundOf(inventory.store, wanted)
      const lost = found.flatMap(({ back }) => (back.kind === 'create' ? [back.fields] : []))
      const born = (await births(inventory, owner, lost, now)).decisions
      const changes = found.flatMap(({ id, back, revision, at }) =>
        back.kind === 'delete' || back.kind === 'change'
          ? [{ stream: diamondStream(id), expected: revision, at, events: back.events }]
          : [],
      )
      const of = (kind: TakingBack['kind']) => found.filter(({ back }) => back.kind === kind).length
      const told = {
        created: of('create'),
        changed: of('change'),
        deleted: of('delete'),
        unchanged: of('nothing'),
        refused: of('changed since'),
      }
      return { decisions: [...born, ...changes], told }
    },
  })

type Found = { readonly id: number; readonly back: TakingBack; readonly revision: bigint; readonly at: number }

const foundOf = (store: EventStore, { correlation, diamonds }: Omit<ToUndo, 'record'>): Promise<Found[]> =>
  Promise.all(
    diamonds.map(async (id) => {
      const stored = await store.read(diamondStream(id))
      const last = stored.at(-1)
      return { id, back: takingBack(stored, correlation), revision: last?.revision ?? 0n, at: timeOf(last) }
    }),
  )
