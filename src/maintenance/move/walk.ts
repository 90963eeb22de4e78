import { createHash } from 'node:crypto'
import { STORES_STREAM } from '../../domain/installation/installation.ts'
import { COPY_STREAM } from '../../domain/installation/moving.ts'
import type { EventStore, From, StoredEvent } from '../../stores/ports/event-store.ts'
import { Failed } from '../operation.ts'
import { appendsOf, writeInOrder, AT_ONCE } from './write.ts'

/** Told of each event that stands in both logs, with its places. */
export type Pair = (source: StoredEvent, target: StoredEvent) => void

/** Told how many events were passed so far. */
export type Progress = (events: number) => void

/**
 * Two logs side by side, from their beginning: every event of the source must be the target's next one, the same in
 * stream, revision, id, type, data and metadata. What the target has no more of can be filled in. So a copy that was
 * interrupted anywhere goes on where it was, having looked at all it did. Each call goes on where the one before has ended,
 * and the digest with it: a place in a log never gets another event, so that nothing needs to be read twice.
 */
export class Walk {
  events = 0
  #source: From = 'start'
  #target: From = 'start'
  readonly #digest = createHash('sha256')

  constructor(
    private readonly source: EventStore,
    private readonly target: EventStore,
  ) {}

  /** SHA-256 over the events so far, in hex. */
  digest(): string {
    return this.#digest.copy().digest('hex')
  }

  /**
   * Goes on to the source's head.
   * @param progress counts from the call
   * @returns how many events the target did not have, and has now
   * @throws Failed for a difference
   */
  async fill(progress: Progress): Promise<number> {
    const before = this.events
    let filled = 0
    let missing: StoredEvent[] = []
    const write = async () => {
      await writeInOrder(this.target, appendsOf(missing))
      filled += missing.length
      for (const event of missing) this.#passed(event)
      missing = []
    }
    await this.#alongside(async (event, there) => {
      if (there !== undefined) this.#same(event, there)
      else if (missing.push(event) === AT_ONCE) await write()
      progress(this.events - before)
    })
    if (missing.length > 0) await write()
    // What was just written is passed over the next time.
    if (filled > 0) this.#target = await this.target.head()
    return filled
  }

  /**
   * Goes on until so many events were passed since the beginning, and holds that the target has these and ends there.
   * @throws Failed for a difference
   */
  async compare(events: number, pair: Pair): Promise<void> {
    const left = await this.#alongside(async (event, there) => {
      if (there === undefined) throw differs(event, 'the target does not have it')
      this.#same(event, there)
      pair(event, there)
    }, events)
    if (left !== undefined) throw differs(left, 'the source does not have it')
  }

  /** @returns the first event that the target has beyond the last one */
  async #alongside(
    each: (event: StoredEvent, there: StoredEvent | undefined) => Promise<void>,
    events = Number.POSITIVE_INFINITY,
  ): Promise<StoredEvent | undefined> {
    const source = this.events < events ? copied(this.source.readAll(this.#source)) : []
    const target = copied(this.target.readAll(this.#target))
    try {
      for await (const event of source) {
        await each(event, (await target.next()).value ?? undefined)
        if (this.events === events) break
      }
      return (await target.next()).value ?? undefined
    } finally {
      await target.return(undefined)
    }
  }

  #same(event: StoredEvent, there: StoredEvent): void {
    if (textOf(event) !== textOf(there)) {
      throw differs(event, `the target has ${there.stream}@${there.revision} (${there.type}, ${there.id}) there`)
    }
    this.#passed(event)
    this.#target = there.position
  }

  #passed(event: StoredEvent): void {
    this.#digest.update(`${textOf(event)}\n`)
    this.#source = event.position
    this.events++
  }
}

const OWN: ReadonlySet<string> = new Set([COPY_STREAM, STORES_STREAM])

/** What a log knows of how it was filled, and of its vault and files, is its own. */
export async function* copied(events: AsyncIterable<StoredEvent>): AsyncGenerator<StoredEvent, undefined> {
  for await (const event of events) if (!OWN.has(event.stream)) yield event
  return undefined
}

const textOf = ({ stream, revision, id, type, data, metadata }: StoredEvent): string =>
  JSON.stringify([stream, String(revision), id, type, data, metadata])

const differs = ({ stream, revision, type, id }: StoredEvent, how: string) =>
  new Failed(
    `The target's log is not the source's. At ${stream}@${revision} (${type}, ${id}): ${how}. ` +
      'Empty the target, or name another one, and copy again',
  )
