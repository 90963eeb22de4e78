import type { PositionOrStart, StoredEvent } from '../../stores/ports/event-store.ts'
import type {
  ReadModelBuild,
  Document,
  FieldValue,
  ModelDeclaration,
  DocumentWrite,
} from '../../stores/ports/read-store.ts'
import type { AccountNumbering } from './account-sequence.ts'
import type { ConsumerFilter } from './consume-batches.ts'

/** What every read model declares. */
type ProjectionBase = ConsumerFilter & {
  readonly declaration: ModelDeclaration
  /**
   * Milliseconds for which what was written lately may be missing as long as nobody waits for it, so that several
   * events of a document are written once; without it, none.
   */
  readonly maxLagMs?: number
}

/**
 * How events become the documents of a read model. Everything is pure, so that folding the log again gives the same model.
 * Applying an event twice changes nothing: `evolve` gives back the same state for one it has seen.
 */
export type Projection<State> = ProjectionBase & {
  /** The streams that make the same documents as this one, itself among them; without it, each stream makes its own. */
  relatedStreams?(stream: string): readonly string[]
  /**
   * Which document an event belongs to; undefined when to none.
   * @throws where that can't be told; what any of these functions throws parks the event's stream
   */
  keyOf(event: StoredEvent): FieldValue | undefined
  /** True when the document can't exist before this event, so that it need not be loaded. */
  createsDocument(event: StoredEvent): boolean
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
  readonly numbering?: AccountNumbering<State>
}

/** How the log as a whole becomes a read model, such as a tree of all events: no event has a document of its own. */
export type LogProjection = ProjectionBase & {
  /**
   * Folds a batch, in the order of the log; no stream is ever parked. A write that broke off may have left documents that are
   * ahead of the checkpoint: the events behind it come again.
   * @param from the checkpoint that the events follow
   */
  fold(
    build: Pick<ReadModelBuild, 'load'>,
    from: PositionOrStart,
    events: readonly StoredEvent[],
  ): Promise<DocumentWrite[]>
}

export type AnyProjection = Projection<unknown> | LogProjection

type ProjectionDefinition<Made extends AnyProjection> = Omit<Made, 'declaration'> & {
  readonly name: ModelDeclaration['name']
  readonly version: ModelDeclaration['version']
  readonly documents: Omit<ModelDeclaration, 'name' | 'version'>
}

/** A read model as it is written down: its name, what it stores, and how events become that. */
export type ReadModelDefinition<State> = ProjectionDefinition<Projection<State>>

export const defineReadModel = <State>({
  name,
  version,
  documents,
  ...fold
}: ReadModelDefinition<State>): Projection<State> => ({ declaration: { name, version, ...documents }, ...fold })

export const defineLogModel = ({
  name,
  version,
  documents,
  ...fold
}: ProjectionDefinition<LogProjection>): LogProjection => ({
  declaration: { name, version, ...documents },
  ...fold,
})

/** The streams whose documents are folded together with those of these streams. */
export const withRelatedStreams = (projection: AnyProjection, streams: readonly string[]): string[] => {
  const of = 'relatedStreams' in projection ? projection.relatedStreams : undefined
  return [...new Set(streams.flatMap((stream) => of?.(stream) ?? [stream]))]
}
