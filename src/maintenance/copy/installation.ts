import { hasPerson } from '../../commands/accounts/accounts.ts'
import type { EventStore, Position, StoredEvent } from '../../stores/ports/event-store.ts'
import type { PersonRow, PersonStore } from '../../stores/ports/person-store.ts'
import type { Vault, VaultItem } from '../../stores/ports/vault.ts'
import type { Installation } from '../../wiring/installation.ts'
import { countItems, OperationFailure, runStep, shareOf, type Operation } from '../operation.ts'
import { copyFiles, faultIn } from './files.ts'
import { PositionMap, LogCopier, type LogCutoff, type TargetEventPosition } from './log.ts'

/** A log, and the persons of its accounts. */
export type PersonStores = { readonly store: Pick<EventStore, 'read'>; readonly persons: PersonStore }

/** Puts in the rows of whom the target's log knows, where they are not there. Nobody comes back who was forgotten there. */
export async function copyPersons(
  rows: AsyncIterable<PersonRow> | Iterable<PersonRow>,
  target: PersonStores,
): Promise<void> {
  for await (const row of rows) if (await hasPerson(target.store, row.account)) await target.persons.putBack(row)
}

/** Whose rows there are although the log does not know them, or has forgotten them. */
export async function findOrphanedPersons(peopled: PersonStores): Promise<readonly number[]> {
  const orphans: number[] = []
  for await (const { account } of peopled.persons.all()) {
    if (!(await hasPerson(peopled.store, account))) orphans.push(account)
  }
  return orphans
}

export type VaultCopyCounts = { entries: number; receipts: number; mails: number }

/** Items that are put in together. */
const VAULT_PAGE_SIZE = 100
/** A share that is refused by the fence leaves an entry in the vault, so that there may be some more each time. */
const MAX_VAULT_ROUNDS = 5

/**
 * Copies what the vault holds, behind the fence only: what was ended before must not lie about in another place. Then
 * holds that all of it is there, byte for byte.
 * @throws Failed where something at the target differs
 */
export async function copyVault(
  source: Vault,
  target: Vault,
  progress: (items: number) => void,
): Promise<VaultCopyCounts> {
  for (let round = 1; ; round++) {
    let done = 0
    for await (const items of readVaultPages(source)) {
      await target.restore(items)
      progress((done += items.length))
    }
    const compared = await compareVaults(source, target)
    if ('copied' in compared) return compared.copied
    if (round === MAX_VAULT_ROUNDS) throw createIncompleteVaultError(compared.missing)
  }
}

const createIncompleteVaultError = (missing: string) =>
  new OperationFailure(
    `The target's vault does not have ${missing} after ${MAX_VAULT_ROUNDS} tries. Where the source's vault changes all the time, ` +
      'stop the service there; then run the same command again',
  )

async function* readVaultPages(vault: Vault): AsyncGenerator<VaultItem[]> {
  let page: VaultItem[] = []
  for await (const item of vault.contents()) {
    page.push(item)
    if (page.length < VAULT_PAGE_SIZE) continue
    yield page
    page = []
  }
  if (page.length > 0) yield page
}

/** @returns the name of the first thing that the target does not have, where there is one */
async function compareVaults(
  source: Vault,
  target: Vault,
): Promise<{ readonly copied: VaultCopyCounts } | { readonly missing: string }> {
  const there = new Map<string, string>()
  for await (const item of target.contents()) there.set(nameOf(item), textOf(item))
  const copied = { entry: 0, receipt: 0, mail: 0 }
  for await (const item of source.contents()) {
    const found = there.get(nameOf(item))
    if (found === undefined) return { missing: nameOf(item) }
    if (found !== textOf(item)) {
      throw new OperationFailure(
        `The target's vault has another ${nameOf(item)} than the source's. Empty the target, or name another one, and copy again`,
      )
    }
    copied[item.kind]++
  }
  return { copied: { entries: copied.entry, receipts: copied.receipt, mails: copied.mail } }
}

const nameOf = (item: VaultItem) => `${item.kind} ${item.digest}${item.kind === 'mail' ? `/${item.mail}` : ''}`

/** All of it but whether its stream has been looked for: a sweeper may have done so since. */
function textOf(item: VaultItem): string {
  const { confirmed: _, ...rest } = { confirmed: false, ...item, sealed: item.sealed.toString('base64') }
  return JSON.stringify(Object.entries(rest).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

const FILES = 'copying files'

type InstallationCopyOptions = Operation & {
  readonly source: Pick<Installation, 'store' | 'files' | 'vault' | 'persons'>
  readonly target: Pick<Installation, 'store' | 'files' | 'vault' | 'persons'>
  /** Where the log is cut; all of it is copied unless told. */
  readonly until?: LogCutoff
}

/**
 * One installation is copied into another. Each call of a part copies and compares what came since the one before, so that
 * little is left for when the source is closed; one that was interrupted goes on where it was.
 */
export class InstallationCopy {
  readonly #options: InstallationCopyOptions
  readonly #copier: LogCopier
  readonly #comparer: LogCopier
  readonly #positions: PositionMap
  readonly #whole = new Map<string, number>()
  #lastEvent: StoredEvent | undefined
  /** Steps that were reported: what came since the first time is soon done. */
  readonly #reportedSteps = new Set<string>()

  constructor(copying: InstallationCopyOptions) {
    const { source, target, until } = copying
    this.#options = copying
    this.#copier = new LogCopier(source.store, target.store, until)
    this.#comparer = new LogCopier(source.store, target.store, until)
    this.#positions = new PositionMap(source.store, target.store)
  }

  /** Files that both have. */
  get fileCount(): number {
    return this.#whole.size
  }

  /** The last event that was copied, as it stands in the source. */
  get lastEvent(): StoredEvent | undefined {
    return this.#lastEvent
  }

  /**
   * The log, to its head or to where it is cut. What was written is read again from both logs, to compare them.
   * @returns how many events the target did not have
   * @throws Failed for a difference
   */
  async copyLog(): Promise<number> {
    const head = await this.#options.source.store.head()
    const filled = await this.#runStep('copying the log', 'events', undefined, (update) =>
      this.#copier.copyMissing((events, event) => {
        this.#lastEvent = event
        update(events, shareOf(event.position, head))
      }),
    )
    const before = this.#comparer.eventCount
    await this.#runStep('comparing the logs', 'events', this.#copier.eventCount - before, (update) =>
      this.#comparer.compare(this.#copier.eventCount, (one, other) => {
        this.#positions.addPair(one, other)
        update(this.#comparer.eventCount - before)
      }),
    )
    return filled
  }

  /**
   * What was compared, from the log's first event to where it is now.
   * @throws Failed where that is not what was copied
   */
  requireEqualLogs(): { readonly events: number; readonly digest: string } {
    const digest = this.#comparer.digest()
    if (digest !== this.#copier.digest()) {
      throw new OperationFailure(
        `The logs did not stay as they were copied: ${digest} was compared, and something else copied`,
      )
    }
    return { events: this.#comparer.eventCount, digest }
  }

  /** The target's place of the last event that the source has up to this one of its own; undefined before the first. */
  findTargetPosition(position: Position): Promise<TargetEventPosition | undefined> {
    return this.#positions.findTarget(position)
  }

  /**
   * All files of the source. What its collector removes meanwhile nothing refers to.
   * @throws Failed for one that is damaged
   */
  async copyAllFiles(): Promise<void> {
    const { source } = this.#options
    const total = this.#reportedSteps.has(FILES) ? undefined : await countItems(source.files.list())
    const faulty = await this.#copyFiles(digestsIn(source.files.list()), total)
    for (const [digest, found] of faulty) {
      if (found === undefined) continue
      const fault = faultIn(digest, found)
      throw new OperationFailure(
        `The source's file ${digest} ${fault}. Restore it from a backup, and run the same command again`,
      )
    }
  }

  /** These files. @returns those that the source does not have, or not whole */
  async copySelectedFiles(digests: ReadonlySet<string>): Promise<readonly string[]> {
    return [...(await this.#copyFiles(digests, digests.size)).keys()]
  }

  /** What waits for its reader or is to be mailed, behind the fence only. @throws Failed */
  async copyVault(): Promise<VaultCopyCounts> {
    const { source, target } = this.#options
    const step = { label: 'copying the vault', total: await countItems(source.vault.contents()), unit: 'items' }
    return runStep(this.#options, step, (update) => copyVault(source.vault, target.vault, update))
  }

  /** The sealed rows of those whom the target's log knows. */
  async copyPersons(): Promise<void> {
    await copyPersons(this.#options.source.persons.all(), this.#options.target)
  }

  #copyFiles(digests: AsyncIterable<string> | Iterable<string>, total: number | undefined) {
    const [source, target] = [this.#options.source.files, this.#options.target.files]
    return this.#runStep(FILES, 'files', total, (update) =>
      copyFiles({ source, target, digests, whole: this.#whole }, update),
    )
  }

  #runStep<Result>(
    label: string,
    unit: string,
    total: number | undefined,
    work: (update: (done: number, share?: number) => void) => Promise<Result>,
  ): Promise<Result> {
    const isFirst = !this.#reportedSteps.has(label)
    this.#reportedSteps.add(label)
    return runStep(this.#options, { label, total: isFirst ? total : 0, unit }, work)
  }
}

async function* digestsIn(listed: AsyncIterable<{ readonly digest: string }>): AsyncGenerator<string> {
  for await (const { digest } of listed) yield digest
}
