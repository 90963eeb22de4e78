import type { From, StoredEvent } from '../../stores/ports/event-store.ts'
import type { Build, Document, FieldValue, ModelDeclaration, Write } from '../../stores/ports/read-store.ts'
import type { Numbering } from './account-sequence.ts'
import type { Following } from './follow.ts'

/** What every read model declares. */
type Declared = Following & {
  readonly declaration: ModelDeclaration
  /**
   * Milliseconds for which what was written lately may be missing as long as nobody waits for it, so that several
   * events of a document are written once; without it, none.
   */
  readonly lag?: number
}

/**
 * How events become the documents of a read model. Everything is pure, so that folding the log again gives the same model.
 * Applying an event twice changes nothing: `evolve` gives back the same state for one it has seen.
 */
export type Projection<State> = Declared & {
  /** The streams that make the same documents as this one, itself among them; without it, each stream makes its own. */
  together?(stream: string): readonly string[]
  /**
   * Which document an event belongs to; undefined when to none.
   * @throws where that can't be told; what any of these functions throws parks the event's stream
   */
  keyOf(event: StoredEvent): FieldValue | undefined
  /** True when the document can't exist before this event, so that it need not be loaded. */
  begins(event: StoredEvent): boolean
  /**
   * @param state undefined when there is no document
   * @param number of the event among its account's, where events are numbered; else 0
   * @returns the same `state` when nothing changes, undefined when the document goes
   * @throws when the event does not fit: its stream is then parked
   */
  evolve(state: State | undefined, event: StoredEvent, number: number): State | undefined
  toDocument(state: State): Document
  fromDocument(document: Document): State
  /**
   * Events are numbered by account, whether or not they change a document, and the sequences are kept in the same write;
   * without it, they are not.
   */
  readonly numbering?: Numbering<State>
}

/** How the log as a whole becomes a read model, such as a tree of all events: no event has a document of its own. */
export type LogProjection = Declared & {
  /**
   * Folds a batch, in the order of the log; no stream is ever parked. A write that broke off may have left documents that are
   * ahead of the checkpoint: the events behind it come again.
   * @param from the checkpoint that the events follow
   */
  fold(build: Pick<Build, 'load'>, from: From, events: readonly StoredEvent[]): Promise<Write[]>
}

export type AnyProjection = Projection<unknown> | LogProjection

type Written<Made extends AnyProjection> = Omit<Made, 'declaration'> & {
  readonly name: ModelDeclaration['name']
  readonly version: ModelDeclaration['version']
  readonly documents: Omit<ModelDeclaration, 'name' | 'version'>
}

/** A read model as it is written down: its name, what it stores, and how events become that. */
export type ReadModelDeclaration<State> = Written<Projection<State>>

export const readModel = <State>({
  name,
  version,
  documents,
  ...fold
}: ReadModelDeclaration<State>): Projection<State> => ({ declaration: { name, version, ...documents }, ...fold })

export const logModel = ({ name, version, documents, ...fold }: Written<LogProjection>): LogProjection => ({
  declaration: { name, version, ...documents },
  ...fold,
})

/** The streams whose documents are folded together with those of these streams. */
export const together = (projection: AnyProjection, streams: readonly string[]): string[] => {
  const of = 'together' in projection ? projection.together : undefined
  return [...new Set(streams.flatMap((stream) => of?.(stream) ?? [stream]))]
}
