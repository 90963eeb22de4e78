import { checkPersonKey } from '../../commands/accounts/people.ts'
import { joinStores } from '../../commands/installation/join-stores.ts'
import { checkLinkKey } from '../../commands/installation/link-key.ts'
import { fenceLog } from '../../commands/installation/move-log.ts'
import { beginEpoch } from '../../commands/installation/restore-log.ts'
import type { Origin } from '../../events/origin.ts'
import { seenEpoch, witnessesIn } from '../../projections/engine/log-past.ts'
import type { EventStore } from '../../stores/ports/event-store.ts'
import type { Vault } from '../../stores/ports/vault.ts'
import { CHECKPOINTED } from '../../wiring/followers.ts'
import { joinedOf, type Installation } from '../../wiring/installation.ts'
import type { Settings } from '../../wiring/settings.ts'
import { Failed } from '../operation.ts'
import { note } from '../../cli/output.ts'
import type { Backups, Before, Replacing } from './backups.ts'
import { shownPosition } from './log-facts.ts'
import { restorePersons } from './persons.ts'
import { personsOf, restoreFiles, type Asked } from './restore-files.ts'

/** The highest epoch that anything beside the log has seen it in: the next one is above it. */
export async function seenEpochOf({ store, reads, vault, seen }: Installation): Promise<number> {
  const last = seen.last()
  const witnesses = await witnessesIn(reads, CHECKPOINTED, vault)
  if (last !== undefined) witnesses.push({ who: 'this folder', ...last })
  return seenEpoch(witnesses, await store.identity())
}

const AT_ONCE = 100

/**
 * Deletes what waited: the log says of all of it that it has expired, or does not know of it. Receipts stay, with which
 * senders find what became of their secrets.
 */
export async function emptyVault(vault: Vault): Promise<void> {
  const digests = new Set<string>()
  for await (const item of vault.contents()) if (item.kind !== 'receipt') digests.add(item.digest)
  const ended = [...digests].map((digest) => ({ digest }))
  for (let from = 0; from < ended.length; from += AT_ONCE) await vault.end(ended.slice(from, from + AT_ONCE))
}

/** What a restore has brought back, and where the log and its epoch stand now. */
export type Restored = {
  readonly events: number
  readonly files: number
  readonly bytes: number
  readonly position: string
  readonly epoch: number
}

/**
 * Everything but the log is put where it belongs beside the one that is there, which changes nothing; then the log, in one
 * step, its new epoch begun already. What dies before that leaves the old one, and what dies after it the new one.
 */
export async function restoreFolder(
  backups: Backups,
  settings: Settings,
  asked: Asked,
  origin: Origin,
): Promise<Restored> {
  const replacing = await backups.replaceLog(settings, asked.log)
  const { installation, before } = replacing
  try {
    const { store, keys, files, vault, persons } = installation
    await checkLinkKey(store, keys)
    await checkPersonKey(store, keys)
    const known = await checkBefore(store, before)
    const restored = await restoreFiles(asked, files)
    const epoch = await beginEpoch(
      { store, origin, clock: Date.now },
      Math.max(known?.epoch ?? 0, await seenEpochOf(installation)),
    )
    const fence = known?.fence ?? installation.seen.last()?.fence
    if (fence) await stayClosed({ store, origin }, fence)
    await joinStores({ store, origin, clock: Date.now }, await joinedOf(installation))
    const head = await store.head()
    const position = head === 'start' ? '0' : shownPosition(head)
    const strangers = await restorePersons(personsOf(asked), { store, persons })
    const events = head === 'start' ? 0 : Number(head.commit)
    await replacing.replace(`before-${epoch}`)
    await persons.forget(strangers)
    await emptyVault(vault)
    return { ...restored, events: asked.manifest?.log.events ?? events, position, epoch }
  } finally {
    await replacing.close()
  }
}

/** @throws Failed where the folder is another installation's */
async function checkBefore(store: EventStore, before: Replacing['before']): Promise<Before | undefined> {
  if (before === 'none') return undefined
  if ('unreadable' in before) {
    note(
      `the log that is replaced can not be read, so what it has seen since the backup is not known: ${before.unreadable}`,
    )
    return undefined
  }
  if (before.identity === (await store.identity())) return before
  throw new Failed(
    'DATA_DIR holds another installation than the one that the backup was taken of: set DATA_DIR to a new folder, or to its own',
  )
}

/** A log that was left for another one stays left: what was written since is there. */
export async function stayClosed(
  { store, origin }: { readonly store: EventStore; readonly origin: Origin },
  fence: NonNullable<Before['fence']>,
): Promise<void> {
  if ((await store.closed())?.why === 'fenced') return
  await fenceLog({ origin, clock: Date.now }, store, fence)
  note(`this installation was moved to ${fence.to}, and stays closed`)
}
