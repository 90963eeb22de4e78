import { OutcomeUnknown, WrongRevision, type Append, type Position, type Revision } from '../ports/event-store.ts'
import type { BatchAppendResult, BatchAppendStream } from './batch-append-stream.ts'
import { encodeAppend, type AppendChunk } from './encoding.ts'
import { isNeverSent, STORE, toStoreUnavailable } from './failure.ts'
import type { Fence } from '../log/fence.ts'
import type { EventReader } from './reader.ts'

/** Appends under way at once for one bulk: enough to keep the one call busy, and no more than the server has threads for. */
const MAX_CONCURRENT_APPENDS = 128

/** How often the same append is sent while nobody knows what became of it. */
const ATTEMPTS = 2

/** Milliseconds after which an outcome that is unknown is told: whoever asked has 5 s, and one silence takes 4 of them. */
const RETRY_WINDOW_MS = 1_000

/** Appends at exact revisions, which the server recognises again after any restart. */
export class Appender {
  constructor(
    private readonly batches: BatchAppendStream,
    private readonly reader: EventReader,
    /** Undefined where this process fills the log. */
    private readonly fence: Pick<Fence, 'requireAppendAllowed'> | undefined,
    /** Told of each append at once, also where others of its bulk are still on their way. */
    private readonly onStored: (position: Position) => void,
  ) {}

  /**
   * More than a mebibyte goes in several appends: what was stored of them stays, and is recognised when they are repeated.
   * @throws TypeError, WrongRevision, OutcomeUnknown, StoreUnavailable
   */
  async append(append: Append): Promise<Position> {
    return this.#appendRuns(append, encodeAppend(append))
  }

  /** @throws as append does, after all others that were sent have been answered; a wrong revision rather than any other fault */
  async appendMany(appends: readonly Append[]): Promise<Position[]> {
    const encoded = appends.map((append) => ({ append, runs: encodeAppend(append) }))
    const positions: Position[] = []
    const faults: unknown[] = []
    const since = performance.now()
    const isOver = () => faults.length > 0 && performance.now() - since > RETRY_WINDOW_MS
    // Several appends to one stream go one after another, those of different streams together.
    const lanes = [...groupByStream(encoded).values()]
    const work = async () => {
      // Where the first ones were answered by silence, the others are not sent to meet it too.
      for (let lane = lanes.shift(); lane !== undefined && !isOver(); lane = lanes.shift()) {
        try {
          for (const { index, append, runs } of lane) positions[index] = await this.#appendRuns(append, runs)
        } catch (error) {
          faults.push(error)
        }
      }
    }
    await Promise.all(Array.from({ length: Math.min(MAX_CONCURRENT_APPENDS, lanes.length) }, work))
    if (faults.length > 0) throw faults.find((fault) => fault instanceof WrongRevision) ?? faults[0]
    return positions
  }

  /**
   * Sends all of them one behind the other over the one call, which the server works through in its order, and then waits
   * for the answers. What is sent once more, because one of them failed, finds what is stored: neither comes before what
   * is ahead of it. @throws as append does, after all others have been answered
   */
  async appendInOrder(appends: readonly Append[]): Promise<Position[]> {
    const encoded = appends.map((append) => ({ append, runs: encodeAppend(append) }))
    for (const { append, runs } of encoded)
      await this.fence?.requireAppendAllowed(
        append.stream,
        runs.flatMap(({ types }) => types),
      )
    const sent = encoded.map(({ append, runs }) => this.#sendRuns(append, runs))
    return Promise.all((await Promise.all(sent)).map((answer) => positionOf(answer)))
  }

  /** @returns the answer to the first run that was not stored, else to the last one */
  async #sendRuns({ stream, expected }: Append, runs: readonly AppendChunk[]): Promise<AnsweredAppend> {
    let revision = expected
    const sent = runs.map((run) => {
      const at = revision
      revision = (revision === 'none' ? -1n : revision) + BigInt(run.ids.length)
      return this.#send(stream, at, run).then((answer) => ({ stream, expected: at, answer }))
    })
    const answers = await Promise.all(sent)
    const answered = answers.find(({ answer }) => answer.kind !== 'stored') ?? answers.at(-1)
    if (answered === undefined) throw new TypeError(`an append to ${stream} needs at least one event`)
    return answered
  }

  async #appendRuns({ stream, expected }: Append, runs: readonly AppendChunk[]): Promise<Position> {
    let revision = expected
    let position: Position | undefined
    for (const run of runs) {
      position = await this.#appendOnce(stream, revision, run)
      revision = (revision === 'none' ? -1n : revision) + BigInt(run.ids.length)
    }
    if (position === undefined) throw new TypeError(`an append to ${stream} needs at least one event`)
    return position
  }

  async #appendOnce(stream: string, expected: Revision, run: AppendChunk): Promise<Position> {
    const since = performance.now()
    for (let attempt = 1; ; attempt++) {
      await this.fence?.requireAppendAllowed(stream, run.types)
      const answer = await this.#send(stream, expected, run)
      if (answer.kind === 'stored') return answer.position
      if (answer.kind === 'wrong revision') throw new WrongRevision(stream, expected, answer.actual)
      const found = await this.#outcome(stream, expected, run, answer)
      if (found !== undefined) {
        this.onStored(found)
        return found
      }
      if (attempt === ATTEMPTS || performance.now() - since > RETRY_WINDOW_MS)
        throw outcomeUnknown(stream, answer.reason)
    }
  }

  async #send(stream: string, expected: Revision, run: AppendChunk): Promise<BatchAppendResult> {
    const answer = await this.batches.send(stream, expected, run)
    if (answer.kind === 'stored') this.onStored(answer.position)
    return answer
  }

  /** Looks whether an append was stored after all. Undefined: not so far. */
  async #outcome(
    stream: string,
    expected: Revision,
    { ids }: AppendChunk,
    { kind, reason }: Extract<BatchAppendResult, { reason: Error }>,
  ): Promise<Position | undefined> {
    if (kind === 'refused' || isNeverSent(reason))
      throw toStoreUnavailable(`the append to ${stream} was not taken`, reason)
    const first = expected === 'none' ? 0n : expected + 1n
    const there = await this.reader.readRange(stream, first, ids.length).catch((error: unknown) => {
      throw outcomeUnknown(stream, reason, error)
    })
    if (there.length === 0) return undefined
    const last = there.at(-1)
    if (last !== undefined && there.length === ids.length && there.every(({ id }, index) => id === ids[index])) {
      return last.position
    }
    const [newest] = await this.reader.readNewest(stream, 1)
    throw new WrongRevision(stream, expected, newest?.revision ?? 'none')
  }
}

type AnsweredAppend = { readonly stream: string; readonly expected: Revision; readonly answer: BatchAppendResult }

/** @throws what an append whose outcome is not looked for again says */
function positionOf({ stream, expected, answer }: AnsweredAppend): Position {
  if (answer.kind === 'stored') return answer.position
  if (answer.kind === 'wrong revision') throw new WrongRevision(stream, expected, answer.actual)
  if (answer.kind === 'unknown') throw outcomeUnknown(stream, answer.reason)
  throw toStoreUnavailable(`the append to ${stream} was not taken`, answer.reason)
}

const outcomeUnknown = (stream: string, reason: Error, cause: unknown = reason) =>
  new OutcomeUnknown(`${STORE}: the append to ${stream} may be stored or not: ${reason.message}`, {
    cause,
    store: STORE,
  })

function groupByStream<Item extends { readonly append: Append }>(items: readonly Item[]) {
  const lanes = new Map<string, (Item & { readonly index: number })[]>()
  for (const [index, item] of items.entries()) {
    const lane = lanes.get(item.append.stream)
    if (lane === undefined) lanes.set(item.append.stream, [{ ...item, index }])
    else lane.push({ ...item, index })
  }
  return lanes
}
