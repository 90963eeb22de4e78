import { restorePersons } from './persons.ts'
import { checkPersonKey } from '../../commands/accounts/people.ts'
import { counted } from '../../cli/progress-bar.ts'
import type { Origin } from '../../events/origin.ts'
import { joinStores } from '../../commands/installation/join-stores.ts'
import { checkLinkKey } from '../../commands/installation/link-key.ts'
import { beginEpoch } from '../../commands/installation/restore-log.ts'
import { LOG_STREAM } from '../../domain/installation/moving.ts'
import { joinedOf, type Installation } from '../../wiring/installation.ts'
import { READ_MODELS } from '../../wiring/followers.ts'
import type { Settings } from '../../wiring/settings.ts'
import type { EventStore } from '../../stores/ports/event-store.ts'
import { Failed } from '../operation.ts'
import type { Open } from '../../cli/installed.ts'
import { emptyVault, seenEpochOf, stayClosed, type Restored } from './restore-folder.ts'
import { shownPosition } from './log-facts.ts'
import type { Manifest } from './manifest.ts'
import { personsOf, restoreFiles, type Asked } from './restore-files.ts'

/** The log is back by the server's own way; LogRestored, written last, is what lets it be served. */
export async function restoreServer(open: Open, settings: Settings, asked: Asked, origin: Origin): Promise<Restored> {
  const installation = await open(settings, 'filled')
  const { store, keys, files, vault, persons } = installation
  try {
    if ((await store.read(LOG_STREAM)).length === 0)
      throw new Failed("The server's log is empty: put its backup back first")
    await nobodyWorks(installation)
    await checkLinkKey(store, keys)
    await checkPersonKey(store, keys)
    if (asked.manifest !== undefined) await checkLog(store, asked.manifest)
    const restored = await restoreFiles(asked, files)
    const seen = Math.max(asked.manifest?.log.epoch ?? 0, await seenEpochOf(installation))
    const epoch = await beginEpoch({ store, origin, clock: Date.now }, seen)
    await joinStores({ store, origin, clock: Date.now }, await joinedOf(installation))
    const fence = installation.seen.last()?.fence
    if (fence) await stayClosed({ store, origin }, fence)
    await persons.forget(await restorePersons(personsOf(asked), { store, persons }))
    await emptyVault(vault)
    const head = await store.head()
    const events = asked.manifest?.log.events ?? (await counted(store.readAll('start')))
    return { ...restored, events, position: head === 'start' ? '0' : shownPosition(head), epoch }
  } finally {
    await installation.close()
  }
}

/** A process that only answers is not seen here: it ends by itself when it meets LogRestored. @throws Failed */
async function nobodyWorks({ reads }: Installation): Promise<void> {
  for (const { declaration } of READ_MODELS) {
    if (await reads.isHeld(declaration)) throw new Failed('A process of this installation runs: stop all of them first')
  }
}

/** @throws Failed where the server has another log, or one that is older than the files */
async function checkLog(store: EventStore, { log }: Manifest): Promise<void> {
  const [commit = '0', prepare = commit] = log.position.split('/')
  const found = await store.eventAt({ commit: BigInt(commit), prepare: BigInt(prepare) })
  if ((await store.identity()) === log.identity && found?.id === log.last) return
  throw new Failed(
    `The server's log is not the one that this backup's files belong to, or ends before them (${log.position}): ` +
      "put the server's backup of that time back first",
  )
}
