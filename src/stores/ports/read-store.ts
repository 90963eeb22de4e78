import { StoreUnavailable, type PositionOrStart, type Position } from './event-store.ts'

/**
 * The read-store port: documents with declared indexes and kept counts, written in batches together with a checkpoint.
 * Adapters: sqlite/documents.ts (embedded, one file a build), mongodb/documents.ts (collections a build).
 * Both pass test/contract/read-store.ts. Queries by name stand beside the projection that owns the model.
 */

/** What a model stores. A document is its indexed fields and its texts; nothing else is kept. */
export type ModelDeclaration = {
  /** Lower-case, such as `diamonds`. */
  readonly name: string
  /** Raised with every change of shape or fold: another version is another build. */
  readonly version: number
  /** Fields that filters and order use; a number is any double. The key is `id`, an integer or a text. */
  readonly fields: Readonly<Record<string, 'integer' | 'number' | 'text'>>
  /** Stored as written and returned on request: folded state. */
  readonly texts: readonly string[]
  /** Each a list of fields, in order; queries may only filter and sort by what an index covers. */
  readonly indexes: readonly (readonly string[])[]
  /**
   * Fields by whose values documents are counted as they are written, so that a total costs one look-up.
   * `['owner', 'isColored']` keeps the number of documents of each (owner, isColored).
   */
  readonly counts: readonly string[]
}

/**
 * Sequences stand in a table of their own beside the documents of a build, and say how far something has been counted, such
 * as the events of an account. `id` is an integer from 0; what is in `state` is up to the projection.
 */
export const SEQUENCES_DECLARATION: ModelDeclaration = {
  name: 'sequences',
  version: 1,
  fields: { id: 'integer' },
  texts: ['state'],
  indexes: [],
  counts: [],
}

export type FieldValue = number | string
/** Must hold `id`, every declared field and every declared text. Booleans are 0 and 1. */
export type Document = Readonly<Record<string, FieldValue>>

/** Equality, membership of up to 1,000 values, or an inclusive range. Texts compare by code point, as in UTF-8. */
export type Condition =
  FieldValue | { readonly in: readonly FieldValue[] } | { readonly from?: FieldValue; readonly to?: FieldValue }

export type WhereClause = Readonly<Record<string, Condition>>

/** One kept count: `values` of all counted fields. */
export type DocumentCount = { readonly values: Document; readonly documents: number }

/** Of a count: along which declared index, and that it need not be told how many more there are than so many. */
export type CountLimit = { readonly by: readonly string[]; readonly upTo: number }

export type Query = {
  readonly where: WhereClause
  /** Newest first is `[['date', 'desc'], ['id', 'desc']]`. */
  readonly order: readonly (readonly [field: string, direction: 'asc' | 'desc'])[]
  readonly limit: number
  readonly offset: number
  /**
   * Only what comes behind this place, at a cost that is the same wherever it is: a value for each field of the order, whose
   * directions are then all the same, `offset` 0. It need not be (any more) that of a document.
   */
  readonly after?: readonly FieldValue[]
  /**
   * The index to walk along, where that is not left to the store: one that is declared. Where its first fields have memberships
   * of few values and the next ones are the order, the reaches of all combinations are merged, and nothing is sorted.
   */
  readonly by?: readonly string[]
  /** The fields and texts to return; `revision` too, as a number. */
  readonly select: readonly string[]
}

/**
 * `revision` guards a write: it takes effect only where the stored document is missing or has a lower one.
 * Raise it with every event folded into the document (SQLite and MongoDB both check it).
 * `over` is what `load` gave of it, if anything: the write takes effect only over that, and where another with a lower
 * revision stands there, it is Outdated. What was loaded may be older than what stands there (MongoDB before 8.0, behind an
 * election), and what was folded over it would lose the events between.
 */
export type DocumentWrite = { readonly revision: bigint; readonly basedOn?: StoredDocument } & (
  { readonly put: Document } | { readonly remove: FieldValue }
)

/** A document is not as it was loaded: whoever loaded it loads and folds again. */
export class ConcurrencyConflict extends StoreUnavailable {
  override readonly name: string = 'Outdated'

  constructor(model: string, key: FieldValue) {
    super(`the document ${key} of ${model} is not as it was loaded: it is folded again`)
  }
}

/** How far a build has folded the log, and which log that was. */
export type Checkpoint = {
  readonly position: PositionOrStart
  /** The log's identity and epoch (events/lineage.ts). */
  readonly log: string
  /** The event at that position, or the last one before it that was folded; null before there is one. */
  readonly event: { readonly id: string; readonly position: Position } | null
}

export type DeadLetter = {
  readonly stream: string
  readonly revision: bigint
  readonly position: Position
  readonly event: string
  readonly type: string
  readonly reason: string
}

/** Documents of one declaration. */
export interface DocumentTable {
  /**
   * Documents by key, in no particular order; unknown keys are left out.
   * A returned document also carries `revision` as bigint.
   * What it does not show is not there; what it shows may be older than what was acknowledged, unless it is asked for no
   * less. That costs MongoDB a word with the other members.
   */
  load(keys: readonly FieldValue[], least?: 'acknowledged'): Promise<StoredDocument[]>
  /**
   * Every document, in pages, in the order of their ids (MongoDB: of their ids as texts), without more of them in memory than a
   * page. What is put in or removed meanwhile may be among them or not; every other one is, once.
   * @param texts which texts it needs to have; all of them unless told
   */
  scan(texts?: readonly string[]): AsyncIterable<StoredDocument[]>
}

/** One build of one model: the live one, or one being filled beside it. Its documents are those of its declaration. */
export interface ReadModelBuild extends DocumentTable {
  readonly id: string
  /** Documents of SEQUENCES. */
  readonly sequences: DocumentTable
  checkpoint(): Promise<Checkpoint | undefined>
  /**
   * One transaction (SQLite), or counters, documents with sequences, checkpoint in that order (MongoDB).
   * A batch whose checkpoint lies before the stored one changes nothing: all of it is in the documents already. That is
   * what keeps an older put from bringing back a removed document, of which no revision is left to compare with.
   * At an equal checkpoint the revisions decide.
   * @param sequences guarded as documents are
   * @throws Error for a checkpoint of another log, Outdated, StoreUnavailable; nothing was changed, or (StoreUnavailable,
   * MongoDB) a part that changes nothing when it comes again
   */
  write(
    writes: readonly DocumentWrite[],
    checkpoint: Checkpoint,
    deadLetters?: readonly DeadLetter[],
    sequences?: readonly DocumentWrite[],
  ): Promise<void>
  /** Events set aside because they could not be folded, in the order of the log. */
  deadLetters(): Promise<DeadLetter[]>
  /** Takes a stream's dead letters out; its documents are then the caller's to fold again. */
  unpark(stream: string): Promise<void>
}

export type StoredDocument = { readonly document: Document; readonly revision: bigint }

/**
 * What requests read. Follows the pointer: after a switch the next call reads the new build; a switch by another
 * process is seen from the next turn of the event loop on (SQLite). Unknown fields are refused with an Error.
 */
export interface ReadModel {
  /**
   * One document's selected values, or undefined. SQLite answers at once; MongoDB with a promise.
   */
  get(id: FieldValue, select: readonly string[]): Document | undefined | Promise<Document | undefined>
  find(query: Query): Document[] | Promise<Document[]>
  /**
   * From kept counts where `where` names exactly counted fields, else by index.
   * @param bounded then along an index in any case, and no further than one beyond the bound
   */
  count(where: WhereClause, bounded?: CountLimit): number | Promise<number>
  /**
   * The kept counts one by one, of what is not empty: how many documents have which values of the counted fields.
   * @param where names counted fields, each by value
   */
  counts(where: WhereClause): readonly DocumentCount[] | Promise<readonly DocumentCount[]>
  /** Documents of SEQUENCES, of the ids that there are; with `id` and `state`. */
  sequences(ids: readonly number[]): readonly Document[] | Promise<readonly Document[]>
  /** The live build's checkpoint position, of whichever process wrote it. */
  position(): PositionOrStart | Promise<PositionOrStart>
  /** Streams with dead letters in the live build: their documents are stale and reads fold the stream. */
  parkedStreams(): ReadonlySet<string> | Promise<ReadonlySet<string>>
}

/**
 * The right to be the one active runner of a model. It saves work; that nothing is written twice rests on guards. Where a
 * holder that stood still can lose it (MongoDB), each lease has a higher fencing token than those before it, and a switch of
 * builds under an older one is refused; documents and checkpoints are guarded by their revisions and versions.
 */
export type Lease = {
  release(): Promise<void>
  /**
   * Resolves when another process has it, which took its holder for dead: the one to be stopped is this one. On SQLite
   * never: there a lease lasts as long as its holder.
   */
  readonly lost: Promise<void>
}

/**
 * The build that is being filled to replace the live one, as it is recorded beside the pointer: it outlives whoever fills it,
 * and the next one goes on with it.
 */
export type PendingBuild = {
  readonly id: string
  /** Whether it has come to the head, so that whoever keeps the model may switch to it. */
  readonly isCaughtUp: boolean
}

export interface ReadStore {
  /** Undefined while another process holds it. It ends with its holder. */
  acquireLease(declaration: ModelDeclaration): Promise<Lease | undefined>
  /** Whether any process holds it at this moment. MongoDB watches for signs of life, up to 2 s. */
  isLeaseHeld(declaration: ModelDeclaration): Promise<boolean>
  /** The live build's reader; before the first build is live its answers are empty. */
  model(declaration: ModelDeclaration): Promise<ReadModel>
  /** The live build to write to, made when there is none. */
  live(declaration: ModelDeclaration): Promise<ReadModelBuild>
  /** Whether readers are led to it: another process may have switched. */
  isLive(declaration: ModelDeclaration, build: ReadModelBuild): Promise<boolean>
  /** A new, empty build beside the live one. */
  begin(declaration: ModelDeclaration): Promise<ReadModelBuild>
  /** Likewise, and recorded as the one that is being filled, in place of any other, which is dropped. */
  beginPendingBuild(declaration: ModelDeclaration): Promise<ReadModelBuild>
  /** What is recorded, as far as it is still there; undefined when it is the live one by now. */
  pendingBuild(declaration: ModelDeclaration): Promise<PendingBuild | undefined>
  /** Opens what is recorded. @throws StoreUnavailable when it is gone */
  openPendingBuild(declaration: ModelDeclaration, filling: PendingBuild): Promise<ReadModelBuild>
  /** Records that it has come to the head. Nothing, where another one is recorded. */
  markCaughtUp(declaration: ModelDeclaration, build: ReadModelBuild): Promise<void>
  /**
   * Makes a build the live one in one write; the old one is dropped 60 s later. It is not recorded as being filled any more.
   * @throws StoreUnavailable, also where another process has taken the model's lease since this one did
   */
  promote(declaration: ModelDeclaration, build: ReadModelBuild): Promise<void>
  /** Removes a build, and the record that it is being filled. @throws Error for the live one */
  drop(declaration: ModelDeclaration, build: Pick<ReadModelBuild, 'id'>): Promise<void>
  close(): Promise<void>
}
