import { hasPerson } from '../../commands/accounts/accounts.ts'
import type { EventStore, Position, StoredEvent } from '../../stores/ports/event-store.ts'
import type { PersonRow, PersonStore } from '../../stores/ports/person-store.ts'
import type { Vault, VaultItem } from '../../stores/ports/vault.ts'
import type { Installation } from '../../wiring/installation.ts'
import { countItems, OperationFailure, runStep, shareOf, type Operation } from '../operation.ts'
import { copyFiles, faultOfContent } from './files.ts'
import { LogCopier, type LogCutoff, type TargetEventPosition } from './log.ts'

type PersonStores = { readonly store: Pick<EventStore, 'readStream'>; readonly persons: PersonStore }

/** Adds missing rows of personal data for accounts in the target's log, except those that were forgotten there. */
export async function copyPersons(
  rows: AsyncIterable<PersonRow> | Iterable<PersonRow>,
  target: PersonStores,
): Promise<void> {
  for await (const row of rows) if (await hasPerson(target.store, row.account)) await target.persons.restore(row)
}

/** Accounts with personal data that the log does not have, or has forgotten. */
export async function findOrphanedPersons(stores: PersonStores): Promise<readonly number[]> {
  const orphans: number[] = []
  for await (const { account } of stores.persons.all()) {
    if (!(await hasPerson(stores.store, account))) orphans.push(account)
  }
  return orphans
}

export type VaultCopyCounts = { entries: number; receipts: number; mails: number }

/** Items that are written together. */
const VAULT_PAGE_SIZE = 100
/** Several rounds may be needed: sharing a secret first writes to the vault, and only then fails at the fence. */
const MAX_VAULT_ROUNDS = 5

/**
 * Copies the vault and compares the copy byte by byte. Call it only after the fence, so that no secret that ends meanwhile
 * remains in the copy.
 * @throws OperationFailure if the target differs
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
    const comparison = await compareVaults(source, target)
    if ('copied' in comparison) return comparison.copied
    if (round === MAX_VAULT_ROUNDS) throw createIncompleteVaultError(comparison.missing)
  }
}

const createIncompleteVaultError = (missing: string) =>
  new OperationFailure(
    `The target's vault lacks ${missing} after ${MAX_VAULT_ROUNDS} attempts. If the source's vault keeps changing, ` +
      'stop the service there, then run the same command again',
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

/** @returns the counts, or the name of the first item that the target lacks */
async function compareVaults(
  source: Vault,
  target: Vault,
): Promise<{ readonly copied: VaultCopyCounts } | { readonly missing: string }> {
  const targetItems = new Map<string, string>()
  for await (const item of target.contents()) targetItems.set(nameOf(item), textOf(item))
  const copied = { entry: 0, receipt: 0, mail: 0 }
  for await (const item of source.contents()) {
    const targetText = targetItems.get(nameOf(item))
    if (targetText === undefined) return { missing: nameOf(item) }
    if (targetText !== textOf(item)) {
      throw new OperationFailure(
        `The target's ${nameOf(item)} differs from the source's. Empty the target or choose another one, then copy again`,
      )
    }
    copied[item.kind]++
  }
  return { copied: { entries: copied.entry, receipts: copied.receipt, mails: copied.mail } }
}

const nameOf = (item: VaultItem) => `${item.kind} ${item.digest}${item.kind === 'mail' ? `/${item.mail}` : ''}`

/** Serializes an item for comparison, ignoring `confirmed`, which a sweeper may change at any time. */
function textOf(item: VaultItem): string {
  const { confirmed: _, ...comparedFields } = { confirmed: false, ...item, sealed: item.sealed.toString('base64') }
  return JSON.stringify(Object.entries(comparedFields).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

const FILE_STEP_LABEL = 'copying files'

type InstallationCopyOptions = Operation & {
  readonly source: Pick<Installation, 'store' | 'files' | 'vault' | 'persons'>
  readonly target: Pick<Installation, 'store' | 'files' | 'vault' | 'persons'>
  /** Where to cut the log; without it all of it is copied. */
  readonly cutoff?: LogCutoff
}

/**
 * Copies an installation to another one. Each call of a method copies and compares what was written since the previous call, so
 * that little is left after the fence. An interrupted copy resumes in a new process.
 */
export class InstallationCopy {
  readonly #options: InstallationCopyOptions
  readonly #copier: LogCopier
  readonly #comparer: LogCopier
  readonly #intactFiles = new Map<string, number>()
  /** Steps that were reported. Repetitions are short and not reported. */
  readonly #reportedSteps = new Set<string>()

  constructor(options: InstallationCopyOptions) {
    const { source, target, cutoff } = options
    this.#options = options
    this.#copier = new LogCopier(source.store, target.store, cutoff)
    this.#comparer = new LogCopier(source.store, target.store, cutoff)
  }

  /** Number of files that both installations have intact. */
  get fileCount(): number {
    return this.#intactFiles.size
  }

  /** The last copied event, as in the source. */
  get lastEvent(): StoredEvent | undefined {
    return this.#copier.lastEvent
  }

  /**
   * Copies the log up to its head or the cutoff, then reads both logs again to compare them.
   * @returns the number of events that the target lacked
   * @throws OperationFailure for a difference
   */
  async copyLog(): Promise<number> {
    const head = await this.#options.source.store.head()
    const copiedCount = await this.#runStep('copying the log', 'events', undefined, (update) =>
      this.#copier.copyMissing((events, event) => update(events, shareOf(event.position, head))),
    )
    const previousCount = this.#comparer.eventCount
    await this.#runStep('comparing the logs', 'events', this.#copier.eventCount - previousCount, (update) =>
      this.#comparer.compare(this.#copier.eventCount, () => update(this.#comparer.eventCount - previousCount)),
    )
    return copiedCount
  }

  /**
   * @returns number and digest of the compared events, from the first one of the log
   * @throws OperationFailure if the comparison read other events than the copy
   */
  requireEqualLogs(): { readonly events: number; readonly digest: string } {
    const digest = this.#comparer.digest()
    if (digest !== this.#copier.digest()) {
      throw new OperationFailure(
        `The logs changed after they were copied: the comparison has the digest ${digest}, the copy another one`,
      )
    }
    return { events: this.#comparer.eventCount, digest }
  }

  /** The target's copy of the last event up to a position of the source; undefined before the first event. */
  findTargetPosition(position: Position): Promise<TargetEventPosition | undefined> {
    return this.#comparer.findTarget(position)
  }

  /**
   * Copies all files of the source. Files that its garbage collector deletes meanwhile are not referred to, so they may be missing.
   * @throws OperationFailure for a damaged file
   */
  async copyAllFiles(): Promise<void> {
    const { source } = this.#options
    const total = this.#reportedSteps.has(FILE_STEP_LABEL) ? undefined : await countItems(source.files.list())
    const faulty = await this.#copyFiles(digestsIn(source.files.list()), total)
    for (const [digest, actual] of faulty) {
      if (actual === undefined) continue
      const fault = faultOfContent(digest, actual)
      throw new OperationFailure(
        `The source's file ${digest} ${fault}. Restore it from a backup, then run the same command again`,
      )
    }
  }

  /** @returns digests of files that are missing or damaged at the source */
  async copySelectedFiles(digests: ReadonlySet<string>): Promise<readonly string[]> {
    return [...(await this.#copyFiles(digests, digests.size)).keys()]
  }

  /** Copies pending secrets, receipts and queued mails. Call it only after the fence. @throws OperationFailure */
  async copyVault(): Promise<VaultCopyCounts> {
    const { source, target } = this.#options
    const step = { label: 'copying the vault', total: await countItems(source.vault.contents()), unit: 'items' }
    return runStep(this.#options, step, (update) => copyVault(source.vault, target.vault, update))
  }

  /** Copies the encrypted personal data of accounts in the target's log. */
  async copyPersons(): Promise<void> {
    await copyPersons(this.#options.source.persons.all(), this.#options.target)
  }

  #copyFiles(digests: AsyncIterable<string> | Iterable<string>, total: number | undefined) {
    const [source, target] = [this.#options.source.files, this.#options.target.files]
    return this.#runStep(FILE_STEP_LABEL, 'files', total, (update) =>
      copyFiles({ source, target, digests, intactFiles: this.#intactFiles }, update),
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
