import { comparePositions, type EventStore, type Position } from '../../stores/ports/event-store.ts'
import { copied, type Pair } from './walk.ts'

/** An event in the target's log. */
export type Place = { readonly id: string; readonly position: Position }

/** Of so many compared events the places of one are kept: a log of ten million events costs some 20 MB. */
const APART = 100

/**
 * Where the source's events are in the target's log. What is asked for is known only when the source is closed, and the logs
 * were compared before: so places are kept on the way, some events apart, and what lies between is read when it is asked for.
 */
export class SamePlaces {
  readonly #kept: { readonly source: Position; readonly target: Place }[] = []
  #told = 0

  constructor(
    private readonly source: EventStore,
    private readonly target: EventStore,
  ) {}

  /** To be told of every event, in the log's order. */
  readonly pair: Pair = ({ position }, { id, position: there }) => {
    if (this.#told++ % APART === 0) this.#kept.push({ source: position, target: { id, position: there } })
  }

  /** The target's place of the last event that the source has up to this one of its own; undefined before the first. */
  readonly of = async (position: Position): Promise<Place | undefined> => {
    const near = this.#kept.findLast(({ source }) => comparePositions(source, position) <= 0)
    if (near === undefined) return undefined
    let last = near.target
    const target = copied(this.target.readAll(near.target.position))
    try {
      for await (const event of copied(this.source.readAll(near.source))) {
        if (comparePositions(event.position, position) > 0) break
        const { value } = await target.next()
        if (value === undefined) break
        last = { id: value.id, position: value.position }
      }
    } finally {
      await target.return(undefined)
    }
    return last
  }
}
