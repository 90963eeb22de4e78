import { logLineage, parseLineage } from '../../events/lineage.ts'
import { FIRST_EPOCH } from '../../domain/installation/installation.ts'
import { StoreUnavailable, type EventStore } from '../../stores/ports/event-store.ts'
import type { Checkpoint, ModelDeclaration, ReadStore } from '../../stores/ports/read-store.ts'
import type { Vault } from '../../stores/ports/vault.ts'

/** An event that somebody has seen in the log, in which line of it. */
export type LogObservation = { readonly observer: string } & Pick<Checkpoint, 'log' | 'event'>

/** The log ends before what was seen of it, or goes on otherwise: nobody may answer from it, or write to it, as it is. */
export class LogRolledBack extends StoreUnavailable {
  override readonly name = 'LogSetBack'
}

/**
 * A log that was put back to a backup gives out again what others hold already. It is told by those who have seen more of
 * it, in the epoch that it is in, or in a later one; after LogRestored the epoch is another one than theirs.
 * @throws LogSetBack, StoreUnavailable
 */
export async function requireLogNotRolledBack(store: EventStore, witnesses: readonly LogObservation[]): Promise<void> {
  const now = parseLineage(await logLineage(store))
  for (const { observer, log, event } of witnesses) {
    const { identity, epoch } = parseLineage(log)
    if (identity !== now.identity || epoch < now.epoch || event === null) continue
    if (epoch === now.epoch && (await store.eventAt(event.position))?.id === event.id) continue
    throw new LogRolledBack(
      `The log is older than what ${observer} has seen of it (${event.position.commit}): it was put back to a backup. ` +
        'Run `npx adamant restore --in-place`, or `npx adamant restore FROM --replace`, and serve then',
    )
  }
}

/** The highest epoch that anybody has seen this log in. */
export const highestObservedEpoch = (witnesses: readonly LogObservation[], identity: string): number =>
  Math.max(
    FIRST_EPOCH,
    ...witnesses
      .map(({ log }) => parseLineage(log))
      .map((line) => (line.identity === identity ? line.epoch : FIRST_EPOCH)),
  )

/** What these followers of the log and the vault have seen. @throws StoreUnavailable */
export async function readLogObservations(
  reads: ReadStore,
  followers: readonly ModelDeclaration[],
  vault: Vault,
): Promise<LogObservation[]> {
  const found: LogObservation[] = []
  for (const declaration of followers) {
    // Asking for the live build makes one where there is none.
    if ((await (await reads.model(declaration)).position()) === 'start') continue
    const checkpoint = await (await reads.live(declaration)).checkpoint()
    if (checkpoint !== undefined) found.push({ observer: `the read model ${declaration.name}`, ...checkpoint })
  }
  const followed = await vault.checkpoint()
  return followed === undefined ? found : [...found, { observer: 'the vault', ...followed }]
}
