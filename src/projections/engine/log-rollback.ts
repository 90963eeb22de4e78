import { logLineage, parseLineage } from '../../events/lineage.ts'
import { FIRST_EPOCH } from '../../domain/installation/installation.ts'
import { formatPosition, StoreUnavailable, type EventStore, type Position } from '../../stores/ports/event-store.ts'
import type { Checkpoint, ModelDeclaration, ReadStore } from '../../stores/ports/read-store.ts'
import type { Vault } from '../../stores/ports/vault.ts'
import { openLiveBuild } from './checkpoint.ts'

/** An event that an observer (a read model or the vault) has seen in a lineage of the log. */
export type LogObservation = { readonly observer: string } & Pick<Checkpoint, 'log' | 'event'>

/**
 * The log ends before an event that was seen in it, or differs from there: it must be neither read nor written as it
 * is.
 */
export class LogRolledBack extends StoreUnavailable {
  override readonly name = 'LogRolledBack'
}

/**
 * Detects a log that was replaced by a backup. Such a log will assign positions again at which observers have already
 * seen other events. It is detected by observers that have seen more of it, in its current epoch or a later one; a
 * proper restore begins a new epoch (LogRestored), which differs from theirs.
 * @throws LogRolledBack, StoreUnavailable
 */
export async function requireLogNotRolledBack(
  store: EventStore,
  observations: readonly LogObservation[],
): Promise<void> {
  const currentLineage = parseLineage(await logLineage(store))
  // Most observers have seen the same newest event.
  const foundIds = new Map<string, Promise<string | undefined>>()
  const idAt = (position: Position) => {
    const name = formatPosition(position)
    const id = foundIds.get(name) ?? store.eventAt(position).then((event) => event?.id)
    foundIds.set(name, id)
    return id
  }
  for (const { observer, log, event } of observations) {
    const { identity, epoch } = parseLineage(log)
    if (identity !== currentLineage.identity || epoch < currentLineage.epoch || event === null) continue
    if (epoch === currentLineage.epoch && (await idAt(event.position)) === event.id) continue
    throw new LogRolledBack(
      `The event log does not have an event that ${observer} has seen (position ${event.position.commit}): it was ` +
        'replaced by an older copy. Run `adamant restore --in-place`, or `adamant restore FROM --replace`, then ' +
        'start the service',
    )
  }
}

/** The first observer that has seen a log with another identity. */
export const findObserverOfOtherLog = (
  observations: readonly LogObservation[],
  identity: string,
): { readonly observer: string; readonly identity: string } | undefined =>
  observations
    .map(({ observer, log }) => ({ observer, identity: parseLineage(log).identity }))
    .find((other) => other.identity !== identity)

/** The highest epoch in which any observer has seen this log. */
export const highestObservedEpoch = (observations: readonly LogObservation[], identity: string): number =>
  Math.max(
    FIRST_EPOCH,
    ...observations
      .map(({ log }) => parseLineage(log))
      .map((lineage) => (lineage.identity === identity ? lineage.epoch : FIRST_EPOCH)),
  )

/** What these consumers and the vault have seen of the log. @throws StoreUnavailable */
export async function readLogObservations(
  reads: ReadStore,
  declarations: readonly ModelDeclaration[],
  vault: Vault,
): Promise<LogObservation[]> {
  const observations: LogObservation[] = []
  for (const declaration of declarations) {
    // `live` creates a build if there is none.
    if ((await (await reads.model(declaration)).position()) === 'start') continue
    const live = await openLiveBuild(reads, declaration)
    if (live !== 'lost' && live.checkpoint !== undefined)
      observations.push({ observer: `the read model ${declaration.name}`, ...live.checkpoint })
  }
  const vaultCheckpoint = await vault.checkpoint()
  return vaultCheckpoint === undefined ? observations : [...observations, { observer: 'the vault', ...vaultCheckpoint }]
}
