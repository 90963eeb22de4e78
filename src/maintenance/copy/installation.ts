import type { Installation } from '../../wiring/installation.ts'
import type { Position, StoredEvent } from '../../stores/ports/event-store.ts'
import { counted, Failed, inStep, shareOf, type Operation } from '../operation.ts'
import { copyFiles, faultIn } from './files.ts'
import { SamePlaces, Walk, type Moment, type Place } from './log.ts'
import { copyPersons } from './persons.ts'
import { copyVault, type CopiedVault } from './vault.ts'

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
