import type { From, StoredEvent } from '../../stores/ports/event-store.ts'
import type { Tallied } from './tally.ts'
import type { Build, Document, FieldValue, ModelDeclaration, Write } from '../../stores/ports/read-store.ts'

/**
 * A read model: how events become documents. Everything is pure, so that folding the log again gives the same model.
 * Applying an event twice changes nothing: `apply` gives back the same value for one it has seen.
 */
export type Projection<Value> = {
  readonly declaration: ModelDeclaration
  /** Streams that this model is made of, by prefix. */
  readonly follows: readonly string[]
  /** The streams that make the same documents as this one, itself among them; without it, each stream makes its own. */
  together?(stream: string): readonly string[]
  /**
   * Milliseconds for which what was written lately may be missing as long as nobody waits for it, so that several
   * events of a document are written once; without it, none.
   */
  readonly lag?: number
  /**
   * Which document an event belongs to; undefined when to none.
   * @throws where that can't be told; what any of these functions throws sets the event's stream aside
   */
  keyOf(event: StoredEvent): FieldValue | undefined
  /** True when the document can't exist before this event, so that it need not be loaded. */
  begins(event: StoredEvent): boolean
  /**
   * @param value undefined when there is no document
   * @param number of the event among its account's, in a model that is `tallied`; else 0
   * @returns the same `value` when nothing changes, undefined when the document goes
   * @throws when the event does not fit: its stream is then set aside
   */
  apply(value: Value | undefined, event: StoredEvent, number: number): Value | undefined
  toDocument(value: Value): Document
  fromDocument(document: Document): Value
  /**
   * Events are numbered by account, whether or not they change a document, and the counts are kept in the same write; without
   * it, they are not. Keys of documents are then integers from 1.
   */
  readonly tallied?: Tallied<Value>
  /**
   * Folds a batch as a whole, in the order of the log, in the place of all of the above; no stream is ever set aside. A
   * write that broke off may have left documents that are ahead of the checkpoint: the events behind it come again.
   * @param from the checkpoint that the events follow
   */
  inOrder?(build: Pick<Build, 'load'>, from: From, events: readonly StoredEvent[]): Promise<Write[]>
}

/** A read model as it is declared: what it is called, what it stores, and how events become that. */
export type ReadModelDeclaration<Value> = Omit<Projection<Value>, 'declaration'> & {
  readonly name: ModelDeclaration['name']
  readonly version: ModelDeclaration['version']
  readonly documents: Omit<ModelDeclaration, 'name' | 'version'>
}

/** Declares what is made of the log, to be asked. */
export function readModel<Value>({
  name,
  version,
  documents,
  ...fold
}: ReadModelDeclaration<Value>): Projection<Value> {
  return { declaration: { name, version, ...documents }, ...fold }
}

/** Declares what is made of the log as a whole: no event has a document of its own. */
export function modelInOrder(
  declared: Pick<ReadModelDeclaration<never>, 'name' | 'version' | 'follows' | 'documents' | 'lag'> &
    Required<Pick<Projection<never>, 'inOrder'>>,
): Projection<never> {
  const noDocument = (): never => {
    throw new Error(`no event of ${declared.name} has a document of its own`)
  }
  return readModel<never>({
    ...declared,
    keyOf: () => undefined,
    begins: () => false,
    apply: noDocument,
    toDocument: noDocument,
    fromDocument: noDocument,
  })
}
