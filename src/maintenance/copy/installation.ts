import { hasPerson } from '../../commands/accounts/accounts.ts'
import type { EventStore, Position, StoredEvent } from '../../stores/ports/event-store.ts'
import type { PersonRow, Persons } from '../../stores/ports/persons.ts'
import type { Vault, VaultItem } from '../../stores/ports/vault.ts'
import type { Installation } from '../../wiring/installation.ts'
import { counted, Failed, inStep, shareOf, type Operation } from '../operation.ts'
import { copyFiles, faultIn } from './files.ts'
import { SamePlaces, Walk, type Moment, type Place } from './log.ts'

/** A log, and the persons of its accounts. */
export type Peopled = { readonly store: Pick<EventStore, 'read'>; readonly persons: Persons }

/** Puts in the rows of whom the target's log knows, where they are not there. Nobody comes back who was forgotten there. */
export async function copyPersons(
  rows: AsyncIterable<PersonRow> | Iterable<PersonRow>,
  target: Peopled,
): Promise<void> {
  for await (const row of rows) if (await hasPerson(target.store, row.account)) await target.persons.putBack(row)
}

/** Whose rows there are although the log does not know them, or has forgotten them. */
export async function strangersIn(peopled: Peopled): Promise<readonly number[]> {
  const strangers: number[] = []
  for await (const { account } of peopled.persons.all()) {
    if (!(await hasPerson(peopled.store, account))) strangers.push(account)
  }
  return strangers
}

export type CopiedVault = { entries: number; receipts: number; mails: number }

/** Items that are put in together. */
const AT_ONCE = 100
/** A share that is refused by the fence leaves an entry in the vault, so that there may be some more each time. */
const ROUNDS = 5

/**
 * Copies what the vault holds, behind the fence only: what was ended before must not lie about in another place. Then
 * holds that all of it is there, byte for byte.
 * @throws Failed where something at the target differs
 */
export async function copyVault(source: Vault, target: Vault, progress: (items: number) => void): Promise<CopiedVault> {
  for (let round = 1; ; round++) {
    let done = 0
    for await (const items of inPages(source)) {
      await target.restore(items)
      progress((done += items.length))
    }
    const compared = await compare(source, target)
    if ('copied' in compared) return compared.copied
    if (round === ROUNDS) throw incomplete(compared.missing)
  }
}

const incomplete = (missing: string) =>
  new Failed(
    `The target's vault does not have ${missing} after ${ROUNDS} tries. Where the source's vault changes all the time, ` +
      'stop the service there; then run the same command again',
  )

async function* inPages(vault: Vault): AsyncGenerator<VaultItem[]> {
  let page: VaultItem[] = []
  for await (const item of vault.contents()) {
    page.push(item)
    if (page.length < AT_ONCE) continue
    yield page
    page = []
  }
  if (page.length > 0) yield page
}

/** @returns the name of the first thing that the target does not have, where there is one */
async function compare(
  source: Vault,
  target: Vault,
): Promise<{ readonly copied: CopiedVault } | { readonly missing: string }> {
  const there = new Map<string, string>()
  for await (const item of target.contents()) there.set(nameOf(item), textOf(item))
  const copied = { entry: 0, receipt: 0, mail: 0 }
  for await (const item of source.contents()) {
    const found = there.get(nameOf(item))
    if (found === undefined) return { missing: nameOf(item) }
    if (found !== textOf(item)) {
      throw new Failed(
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

type Copying = Operation & {
  readonly source: Pick<Installation, 'store' | 'files' | 'vault' | 'persons'>
  readonly target: Pick<Installation, 'store' | 'files' | 'vault' | 'persons'>
  /** Where the log is cut; all of it is copied unless told. */
  readonly until?: Moment
}

/**
 * One installation is copied into another. Each call of a part copies and compares what came since the one before, so that
 * little is left for when the source is closed; one that was interrupted goes on where it was.
 */
export class InstallationCopy {
  readonly #copying: Copying
  readonly #filling: Walk
  readonly #comparing: Walk
  readonly #places: SamePlaces
  readonly #whole = new Map<string, number>()
  #last: StoredEvent | undefined
  /** Steps that were reported: what came since the first time is soon done. */
  readonly #reported = new Set<string>()

  constructor(copying: Copying) {
    const { source, target, until } = copying
    this.#copying = copying
    this.#filling = new Walk(source.store, target.store, until)
    this.#comparing = new Walk(source.store, target.store, until)
    this.#places = new SamePlaces(source.store, target.store)
  }

  /** Files that both have. */
  get files(): number {
    return this.#whole.size
  }

  /** The last event that was copied, as it stands in the source. */
  get last(): StoredEvent | undefined {
    return this.#last
  }

  /**
   * The log, to its head or to where it is cut. What was written is read again from both logs, to compare them.
   * @returns how many events the target did not have
   * @throws Failed for a difference
   */
  async log(): Promise<number> {
    const head = await this.#copying.source.store.head()
    const filled = await this.#step('copying the log', 'events', undefined, (update) =>
      this.#filling.fill((events, event) => {
        this.#last = event
        update(events, shareOf(event.position, head))
      }),
    )
    const before = this.#comparing.events
    await this.#step('comparing the logs', 'events', this.#filling.events - before, (update) =>
      this.#comparing.compare(this.#filling.events, (one, other) => {
        this.#places.pair(one, other)
        update(this.#comparing.events - before)
      }),
    )
    return filled
  }

  /**
   * What was compared, from the log's first event to where it is now.
   * @throws Failed where that is not what was copied
   */
  compared(): { readonly events: number; readonly digest: string } {
    const digest = this.#comparing.digest()
    if (digest !== this.#filling.digest()) {
      throw new Failed(`The logs did not stay as they were copied: ${digest} was compared, and something else copied`)
    }
    return { events: this.#comparing.events, digest }
  }

  /** The target's place of the last event that the source has up to this one of its own; undefined before the first. */
  placeOf(position: Position): Promise<Place | undefined> {
    return this.#places.of(position)
  }

  /**
   * All files of the source. What its collector removes meanwhile nothing refers to.
   * @throws Failed for one that is damaged
   */
  async allFiles(): Promise<void> {
    const { source } = this.#copying
    const total = this.#reported.has(FILES) ? undefined : await counted(source.files.list())
    const faulty = await this.#files(digestsIn(source.files.list()), total)
    for (const [digest, found] of faulty) {
      if (found === undefined) continue
      const fault = faultIn(digest, found)
      throw new Failed(`The source's file ${digest} ${fault}. Restore it from a backup, and run the same command again`)
    }
  }

  /** These files. @returns those that the source does not have, or not whole */
  async theseFiles(digests: ReadonlySet<string>): Promise<readonly string[]> {
    return [...(await this.#files(digests, digests.size)).keys()]
  }

  /** What waits for its reader or is to be mailed, behind the fence only. @throws Failed */
  async vault(): Promise<CopiedVault> {
    const { source, target } = this.#copying
    const step = { label: 'copying the vault', total: await counted(source.vault.contents()), unit: 'items' }
    return inStep(this.#copying, step, (update) => copyVault(source.vault, target.vault, update))
  }

  /** The sealed rows of those whom the target's log knows. */
  async persons(): Promise<void> {
    await copyPersons(this.#copying.source.persons.all(), this.#copying.target)
  }

  #files(digests: AsyncIterable<string> | Iterable<string>, total: number | undefined) {
    const [source, target] = [this.#copying.source.files, this.#copying.target.files]
    return this.#step(FILES, 'files', total, (update) =>
      copyFiles({ source, target, digests, whole: this.#whole }, update),
    )
  }

  #step<Result>(
    label: string,
    unit: string,
    total: number | undefined,
    work: (update: (done: number, share?: number) => void) => Promise<Result>,
  ): Promise<Result> {
    const isFirst = !this.#reported.has(label)
    this.#reported.add(label)
    return inStep(this.#copying, { label, total: isFirst ? total : 0, unit }, work)
  }
}

async function* digestsIn(listed: AsyncIterable<{ readonly digest: string }>): AsyncGenerator<string> {
  for await (const { digest } of listed) yield digest
}
