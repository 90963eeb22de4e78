import type { CertificationRemoved } from '../../domain/certification/certification.ts'
import type { Log } from '../../runtime/log.ts'
import type { EventStore, StoredEvent } from '../../stores/ports/event-store.ts'
import type { Files } from '../../stores/ports/files.ts'
import type { ReadModel } from '../../stores/ports/read-store.ts'
import { decode, isUndecodable } from '../../events/decode.ts'
import { KeptRunning, type RunFigures } from '../../projections/engine/keep-trying.ts'
import type { Progress } from '../../projections/engine/progress.ts'
import { Unchanged } from '../../projections/engine/unchanged.ts'

export type FileCollectorOptions = {
  readonly files: Files
  readonly store: EventStore
  /** The certifications read model and how far it has come: which files are in use. */
  readonly model: ReadModel
  readonly progress: Progress
  readonly log: Log
}

/**
 * Milliseconds that a file must have been seen untouched before it may go: four touches. With DUE, a removed
 * certification's file goes within 2 s. Whoever stands still for longer while he holds it puts it back (files.ts).
 */
const GRACE = 1_000
/** Milliseconds between two looks at files that are due. */
const DUE = 100
/** Milliseconds between two looks for leftovers, and between two walks through all files. */
const LEFTOVERS_EVERY = 2_000
const SWEEP_EVERY = 600_000
/** Milliseconds between two looks at whether the service stops, while a walk waits for the read model. */
const PATIENCE = 500

/**
 * Removes files that no certification refers to and nobody has touched for a while. It follows removals, and walks
 * through all files at the start and now and then, for what a crash left. A file is in use as long as the read model,
 * come to the head of the log after the file's last touch, knows a certification with it, or any event of a stream that
 * the model has set aside names it.
 */
export class FileCollector {
  readonly #due = new Set<string>()
  readonly #untouched = new Unchanged()
  readonly #leftovers = new Unchanged()
  readonly #sweeping: KeptRunning
  readonly #works: readonly KeptRunning[]

  constructor(private readonly options: FileCollectorOptions) {
    const { log } = options
    this.#sweeping = new KeptRunning('files-sweep', log, (signal) => this.#sweep(signal), { every: SWEEP_EVERY })
    this.#works = [
      new KeptRunning('files', log, (signal) => this.#follow(signal)),
      new KeptRunning('files-due', log, () => this.#collectDue(), { every: DUE }),
      new KeptRunning('files-leftovers', log, () => this.#clearLeftovers(), { every: LEFTOVERS_EVERY }),
      this.#sweeping,
    ]
  }

  start(): void {
    for (const work of this.#works) work.start()
  }

  async stop(): Promise<void> {
    await Promise.all(this.#works.map((work) => work.stop()))
  }

  get figures(): RunFigures[] {
    return this.#works.map(({ figures }) => figures)
  }

  /** Looks at every file there is, with a read model that knows everything up to now. */
  async #sweep(signal: AbortSignal): Promise<void> {
    const { files, store, progress } = this.options
    const head = await store.head()
    while (!(await progress.reached(head, PATIENCE))) if (signal.aborted) return
    for await (const { digest } of files.list()) {
      if (signal.aborted) return
      // One that was touched a moment ago is due as well: it goes, or is found in use, when its grace is over.
      if (!(await this.#isUsed(digest))) this.#due.add(digest)
    }
  }

  /** Removes what was due before the head was asked for: of removals noted since, the read model may not know. */
  async #collectDue(): Promise<void> {
    if (this.#due.size === 0) return
    const due = new Set(this.#due)
    this.#due.clear()
    try {
      const untouched = await this.#untouchedOf(due)
      if (untouched.size > 0 && (await this.#isUpToDate())) await this.#collect(untouched, due)
    } finally {
      for (const digest of due) this.#due.add(digest)
      this.#untouched.keepOnly(this.#due)
    }
  }

  /** Those that have been untouched for long enough, with their marks; what is not there is due no more. */
  async #untouchedOf(due: Set<string>): Promise<Map<string, string>> {
    const untouched = new Map<string, string>()
    for (const digest of due) {
      const mark = await this.options.files.markOf(digest)
      if (mark === undefined) due.delete(digest)
      else if (this.#untouched.for(digest, mark) >= GRACE) untouched.set(digest, mark)
    }
    return untouched
  }

  async #isUpToDate(): Promise<boolean> {
    const { store, progress } = this.options
    return progress.reached(await store.head(), 0)
  }

  /** Leaves in `due` what has to be looked at again. */
  async #collect(untouched: ReadonlyMap<string, string>, due: Set<string>): Promise<void> {
    const { files, log } = this.options
    const named = await this.#namedAside()
    for (const [digest, mark] of untouched) {
      const isUsed = named.has(digest) || (await this.#isUsed(digest))
      const outcome = isUsed ? 'used' : await files.remove(digest, mark)
      if (outcome !== 'touched') due.delete(digest)
      if (outcome === 'removed') log.info({ digest }, 'a file that nothing uses was removed')
    }
  }

  /** What events of streams that were set aside name, in whatever words: an event names a file by its digest. */
  async #namedAside(): Promise<ReadonlySet<string>> {
    const { model, store } = this.options
    const named = new Set<string>()
    for (const stream of await model.parked()) {
      for (const { data } of await store.read(stream)) {
        for (const [digest] of JSON.stringify(data).matchAll(DIGEST)) named.add(digest.toLowerCase())
      }
    }
    return named
  }

  async #isUsed(digest: string): Promise<boolean> {
    return (await this.options.model.count({ digest })) > 0
  }

  async #clearLeftovers(): Promise<void> {
    const { files, log } = this.options
    const there = new Set<string>()
    let removed = 0
    for await (const leftover of files.leftovers()) {
      const { name, mark, patience } = leftover
      there.add(name)
      if (this.#leftovers.for(name, mark) >= patience && (await files.removeLeftover(leftover))) removed++
    }
    this.#leftovers.keepOnly(there)
    if (removed > 0) log.info({ removed }, 'unfinished uploads of an ended process were removed')
  }

  /** From the head on; what was removed before it is found by a walk that begins now. */
  async #follow(signal: AbortSignal): Promise<void> {
    const { store } = this.options
    const subscription = store.subscribe(await store.head(), { prefixes: ['diamond-'] })
    signal.addEventListener('abort', () => subscription.stop(), { once: true })
    this.#sweeping.wake()
    for await (const { events } of subscription) {
      for (const event of events) this.#note(event)
      if (signal.aborted) return
    }
  }

  #note(event: StoredEvent): void {
    if (event.type !== 'CertificationRemoved') return
    const digest = digestIn(event)
    if (digest !== null) this.#due.add(digest)
  }
}

const DIGEST = /(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/gi

/** What can't be understood removes nothing; the next walk through all files looks at it. */
function digestIn(event: StoredEvent): string | null {
  try {
    return decode<CertificationRemoved>(event).data.digest
  } catch (error) {
    if (isUndecodable(error)) return null
    throw error
  }
}
