import type { StoredEvent } from '../stores/event-store.ts'
import type { Document, FieldValue, ModelDeclaration } from '../stores/read-store.ts'

/**
 * A read model: how events become documents. Everything is pure, so that folding the log again gives the same model.
 * Applying an event twice changes nothing: `apply` gives back the same value for one it has seen.
 */
export type Projection<Value> = {
  readonly declaration: ModelDeclaration
  /** Streams that this model is made of. */
  readonly prefixes: readonly string[]
  /** Which document an event belongs to; undefined when to none. */
  readonly keyOf: (event: StoredEvent) => FieldValue | undefined
  /** True when the document can't exist before this event, so that it need not be loaded. */
  readonly begins: (event: StoredEvent) => boolean
  /**
   * @param value undefined when there is no document
   * @returns the same `value` when nothing changes, undefined when the document goes
   * @throws when the event does not fit: its stream is then set aside
   */
  readonly apply: (value: Value | undefined, event: StoredEvent) => Value | undefined
  readonly toDocument: (value: Value) => Document
  readonly fromDocument: (document: Document) => Value
}
