import type { Installation } from '../../wiring/installation.ts'
import { Failed } from '../operation.ts'
import type { StopSignal } from '../../cli/stop-signal.ts'
import { counted } from '../../cli/progress-bar.ts'
import { copyFiles, verifyFiles } from './files.ts'
import { SamePlaces } from './same-places.ts'
import { shownStep } from './shown-step.ts'
import { copied, Walk } from './walk.ts'

export type Copying = {
  readonly source: Installation
  readonly target: Installation
  /** Where both have the same read models, vault and files stay where they are. */
  readonly sharedReads: boolean
  readonly signal: StopSignal
}

/**
 * The log and the files: what can be copied and compared while the source takes writes. Each call does so with what came
 * since the one before, so that little is left for when the source is closed.
 */
export class Contents {
  readonly places: SamePlaces
  /** Files that both have. */
  files = 0
  readonly #filling: Walk
  readonly #comparing: Walk
  readonly #verified = new Set<string>()
  #begun = false

  constructor(private readonly copying: Copying) {
    const [source, target] = [copying.source.store, copying.target.store]
    this.#filling = new Walk(source, target)
    this.#comparing = new Walk(source, target)
    this.places = new SamePlaces(source, target)
  }

  /**
   * Log and files, each to their ends.
   * @throws Failed for a difference
   */
  async copy(): Promise<void> {
    await this.copyLog()
    if (!this.copying.sharedReads) await this.#copyFiles()
    this.#begun = true
  }

  /**
   * The log alone. What was written is read again from both logs, to compare them.
   * @returns how many events the target did not have
   * @throws Failed for a difference
   */
  async copyLog(): Promise<number> {
    const { source } = this.copying
    const filled = await this.#step(
      'copying the log',
      'events',
      () => counted(copied(source.store.readAll('start'))),
      (progress) => this.#filling.fill(progress),
    )
    const before = this.#comparing.events
    const step = { label: 'comparing the logs', expected: this.#filling.events - before, unit: 'events' }
    await shownStep(this.copying.signal, step, (progress) =>
      this.#comparing.compare(this.#filling.events, (one, other) => {
        this.places.pair(one, other)
        progress(this.#comparing.events - before)
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

  async #copyFiles(): Promise<void> {
    const { source, target } = this.copying
    const expected = () => counted(source.files.list())
    const { files } = await this.#step('copying files', 'files', expected, (progress) =>
      copyFiles(source.files, target.files, progress),
    )
    this.files = files
    await this.#step(
      'comparing files',
      'files',
      async () => files,
      (progress) => verifyFiles(source.files, target.files, this.#verified, progress),
    )
  }

  /** Only the first time there is much to show: what came since nobody has counted, and is soon done. */
  async #step<Result>(
    label: string,
    unit: string,
    expected: () => Promise<number>,
    work: (progress: (done: number) => void) => Promise<Result>,
  ): Promise<Result> {
    const step = { label, expected: this.#begun ? 0 : await expected(), unit }
    return shownStep(this.copying.signal, step, work)
  }
}
