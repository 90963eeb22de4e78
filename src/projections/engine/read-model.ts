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

type ProjectionBase = ConsumerFilter & {
  readonly declaration: ModelDeclaration
  /**
   * Milliseconds that the consumer may pause at the head of the log while no request waits for the read model, so that
   * several events of one document cost one write. Default: 0.
   */
  readonly maxLagMs?: number
}

/**
 * How events become the documents of a read model. Every function is pure, so that a rebuild gives the same model.
 * `evolve` is idempotent: it returns the same state for an event that it has already applied.
 */
export type Projection<State> = ProjectionBase & {
  /**
   * The streams that contribute to the same documents as this one, including itself. Default: only the stream itself.
   */
  relatedStreams?(stream: string): readonly string[]
  /**
   * The id of the document that an event belongs to; undefined if none.
   * @throws if the document can't be determined. An error thrown by any of these functions parks the event's stream
   */
  keyOf(event: StoredEvent): FieldValue | undefined
  /** True if the document can't exist before this event, so that it need not be loaded. */
  createsDocument(event: StoredEvent): boolean
  /**
   * @param state undefined if there is no document
   * @param number the event's number within its account, 0 without `numbering`
   * @returns the same `state` if nothing changes, undefined to delete the document
   * @throws if the event does not fit: its stream is then parked
   */
  evolve(state: State | undefined, event: StoredEvent, number: number): State | undefined
  toDocument(state: State): Document
  fromDocument(document: Document): State
  /**
   * Numbers all events per account, whether or not they change a document; sequences and documents are written
   * together.
   */
  readonly numbering?: AccountNumbering<State>
}

/**
 * How the log as a whole becomes one read model, such as a Merkle tree of all events; documents do not belong to single
 * events.
 */
export type LogProjection = ProjectionBase & {
  /**
   * Folds a batch in log order; streams are never parked. After an interrupted write, documents may be ahead of the
   * checkpoint, and the events after it are delivered again.
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

/** A read model's declaration: its name, its stored documents, and how events become documents. */
export type ReadModelDefinition<State> = ProjectionDefinition<Projection<State>>

export const defineReadModel = <State>({
  name,
  version,
  documents,
  ...projection
}: ReadModelDefinition<State>): Projection<State> => ({ declaration: { name, version, ...documents }, ...projection })

export const defineLogModel = ({
  name,
  version,
  documents,
  ...projection
}: ProjectionDefinition<LogProjection>): LogProjection => ({
  declaration: { name, version, ...documents },
  ...projection,
})

/** The given streams and all their related ones. */
export const withRelatedStreams = (projection: AnyProjection, streams: readonly string[]): string[] => {
  const relatedStreamsOf = 'relatedStreams' in projection ? projection.relatedStreams : undefined
  return [...new Set(streams.flatMap((stream) => relatedStreamsOf?.(stream) ?? [stream]))]
}
