import { StoreUnavailable, type PositionOrStart, type Position } from './event-store.ts'

/**
 * The read store port: documents with declared indexes and maintained counts, written in batches together with a
 * checkpoint.
 * Adapters: sqlite/documents.ts (embedded, one file per build), mongodb/documents.ts (collections per build). Both pass
 * test/contract/read-store.ts. The queries of a model are defined next to the projection that owns it.
 */

/** What a model stores. A document consists of its declared fields and texts only. */
export type ModelDeclaration = {
  /** Lower-case, such as `diamonds`. */
  readonly name: string
  /** Increased with every change of the document shape or of the projection: each version has separate builds. */
  readonly version: number
  /** Fields available for filtering and sorting; a `number` is any double. The key is `id`, an integer or a text. */
  readonly fields: Readonly<Record<string, 'integer' | 'number' | 'text'>>
  /** Unindexed strings, stored and returned as they are: the folded state. */
  readonly texts: readonly string[]
  /** Each index is a list of fields, in order. Queries may filter and sort only by what an index covers. */
  readonly indexes: readonly (readonly string[])[]
  /**
   * Fields by whose combined values documents are counted on write, so that a total costs one lookup.
   * `['owner', 'isColored']` maintains the number of documents for each (owner, isColored).
   */
  readonly counts: readonly string[]
}

/** Such as `diamonds-v13`. */
export const versionedName = ({ name, version }: Pick<ModelDeclaration, 'name' | 'version'>): string =>
  `${name}-v${version}`

/** @throws Error for a field that the model does not have */
export function requireField({ name, fields }: ModelDeclaration, field: string): void {
  if (!Object.hasOwn(fields, field)) throw new Error(`${name} has no field ${field}`)
}

/** @throws Error for a field or text that the model does not have */
export function requireNames(declaration: ModelDeclaration, names: readonly string[]): void {
  for (const name of names) {
    if (name !== 'revision' && !declaration.texts.includes(name)) requireField(declaration, name)
  }
}

/**
 * Sequences are stored in a separate table next to the documents of a build. A sequence records how far something was
 * counted, such as the events of an account. `id` is an integer from 0; the projection defines the content of `state`.
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
/** Must contain `id`, every declared field and every declared text. Booleans are 0 and 1. */
export type Document = Readonly<Record<string, FieldValue>>

/** Equality, membership of up to 1,000 values, or an inclusive range. Texts compare by code point, as in UTF-8. */
export type Condition =
  FieldValue | { readonly in: readonly FieldValue[] } | { readonly from?: FieldValue; readonly to?: FieldValue }

export type WhereClause = Readonly<Record<string, Condition>>

/** One maintained count: `values` has all counted fields. */
export type DocumentCount = { readonly values: Document; readonly documents: number }

/** Limits a count: walk along the declared index `by` and stop after `upTo` + 1 documents. */
export type CountLimit = { readonly by: readonly string[]; readonly upTo: number }

export type Query = {
  readonly where: WhereClause
  /** Newest first is `[['date', 'desc'], ['id', 'desc']]`. */
  readonly order: readonly (readonly [field: string, direction: 'asc' | 'desc'])[]
  readonly limit: number
  readonly offset: number
  /**
   * Keyset pagination: only documents after these values, one for each field of `order`, at constant cost. Requires the
   * same direction for all fields and `offset` 0. The document with these values need not exist.
   */
  readonly after?: readonly FieldValue[]
  /**
   * Forces one of the declared indexes. If its leading fields have an `in` condition with few values and the fields
   * after them are the order, the index ranges of all combinations are merged, without a sort.
   */
  readonly by?: readonly string[]
  /** The fields and texts to return. May include `revision`, returned as a number. */
  readonly select: readonly string[]
}

/** The direction of an order for keyset pagination. @throws Error if it mixes directions */
export function directionOf(order: Query['order']): 'asc' | 'desc' {
  const [[, direction] = ['', 'asc'] as const] = order
  if (order.some(([, other]) => other !== direction))
    throw new Error('keyset pagination requires the same direction for all fields')
  return direction
}

/**
 * `revision` guards the write: it takes effect only if the stored document is missing or has a lower revision. Increase
 * it with every event folded into the document. SQLite and MongoDB both check it.
 * `basedOn` is the document that `load` returned, if any: the write fails with ConcurrencyConflict if the stored
 * document is missing, or has another revision that is still lower than the write's. MongoDB before 8.0 may return an
 * outdated document after an election; without this check, the events between the two would be lost.
 */
export type DocumentWrite = { readonly revision: bigint; readonly basedOn?: StoredDocument } & (
  { readonly put: Document } | { readonly remove: FieldValue }
)

/** The stored document is not the one that was loaded. The caller must load and fold again. */
export class ConcurrencyConflict extends StoreUnavailable {
  override readonly name: string = 'Outdated'

  constructor(model: string, key: FieldValue) {
    super(`document ${key} of ${model} has changed since it was loaded; it will be folded again`)
  }
}

/**
 * The file of a build was damaged, and has been renamed, or it was removed. The process that runs the model's consumer
 * makes a new build; until then, reads of the model fail with this error.
 */
export class ReadModelLost extends StoreUnavailable {
  override readonly name = 'ReadModelLost'
  /** @param what is wrong with the file, such as `is missing` */
  constructor(
    readonly model: string,
    readonly file: string,
    readonly what: string,
    options: ErrorOptions = {},
  ) {
    super(`${file} ${what}: the service rebuilds it, now or at its next start`, {
      ...options,
      store: `the read model ${model}`,
    })
  }
}

/** No projection has run on this log yet, so that the read model says nothing about it. A process with the role projections builds it. */
export class ReadModelNotBuilt extends StoreUnavailable {
  override readonly name = 'ReadModelNotBuilt'
  constructor(model: string) {
    super(
      `the read model ${model} has not been built from this event log yet: start the service, or its process with the role projections`,
    )
  }
}

/** How far a build has processed the log, and the identity of that log. */
export type Checkpoint = {
  readonly position: PositionOrStart
  /** The log's identity and epoch (events/lineage.ts). */
  readonly log: string
  /** The event at that position, or the last event folded before it; null if there is none yet. */
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

export interface DocumentTable {
  /**
   * Documents by key, in no particular order; unknown keys are omitted.
   * A document missing from the result does not exist. A returned document may be older than the last acknowledged
   * write, unless `consistency` is `acknowledged`, which costs MongoDB a round trip to the other members.
   */
  load(keys: readonly FieldValue[], consistency?: 'acknowledged'): Promise<StoredDocument[]>
  /**
   * All documents, page by page, in id order (MongoDB: ids compared as texts). At most one page is in memory. Documents
   * written or removed during the scan may or may not be included; every other document is included once.
   * @param texts the texts to return; defaults to all
   */
  scan(texts?: readonly string[]): AsyncIterable<StoredDocument[]>
}

/** One build of a model: the live one or one that is being filled. Its documents are those of the model's declaration. */
export interface ReadModelBuild extends DocumentTable {
  readonly id: string
  readonly sequences: DocumentTable
  checkpoint(): Promise<Checkpoint | undefined>
  /**
   * SQLite: one transaction. MongoDB: counters first, then documents and sequences, then the checkpoint.
   * A batch whose checkpoint is older than the stored one changes nothing, because its events are already folded. This
   * keeps an old `put` from restoring a removed document, which has no revision left to compare with. At an equal
   * checkpoint, the revisions decide.
   * @param sequences guarded like documents
   * @throws Error if the checkpoint belongs to another log
   * @throws ConcurrencyConflict
   * @throws StoreUnavailable after which the batch may be partly written on MongoDB; repeating it is safe
   */
  write(
    writes: readonly DocumentWrite[],
    checkpoint: Checkpoint,
    deadLetters?: readonly DeadLetter[],
    sequences?: readonly DocumentWrite[],
  ): Promise<void>
  /** The parked events: those that could not be folded, in log order. */
  deadLetters(): Promise<DeadLetter[]>
  /** Removes the stream's dead letters. The caller must then fold its documents again. */
  unpark(stream: string): Promise<void>
}

export type StoredDocument = { readonly document: Document; readonly revision: bigint }

/**
 * The read side of a model. Follows the pointer to the live build: the next call after a switch reads the new build. A
 * switch by another process is noticed at the next turn of the event loop (SQLite).
 * @throws Error for unknown fields; ReadModelLost
 */
export interface ReadModel {
  /** The selected values of one document. */
  get(id: FieldValue, select: readonly string[]): Promise<Document | undefined>
  find(query: Query): Promise<Document[]>
  /**
   * Uses the maintained counts if all conditions are on counted fields, otherwise an index.
   * @param countLimit always counts along the given index, up to one document more than the bound
   */
  count(where: WhereClause, countLimit?: CountLimit): Promise<number>
  /**
   * The maintained counts that are not 0: the number of documents for each combination of the counted fields' values.
   * @param where conditions on counted fields, each by value
   */
  counts(where: WhereClause): Promise<readonly DocumentCount[]>
  /** Documents of SEQUENCES_DECLARATION with these ids, as far as they exist, with `id` and `state`. */
  sequences(ids: readonly number[]): Promise<readonly Document[]>
  /** The position of the live build's checkpoint, whichever process wrote it; 'start' if the build was lost. */
  position(): Promise<PositionOrStart>
  /** Streams with dead letters in the live build. Their documents are stale; readers fold these streams instead. */
  parkedStreams(): Promise<ReadonlySet<string>>
}

/**
 * Leader election: the holder is the only active runner of a model. A lease avoids duplicate work; correctness does not
 * depend on it, because documents and checkpoints are guarded by revisions and versions. A suspended holder can lose its
 * lease: each new lease has another fencing token, and switching builds with an older one fails; on SQLite, writes too.
 */
export type Lease = {
  release(): Promise<void>
  /**
   * Resolves when another process has taken over the lease because this holder seemed dead: this process must stop.
   */
  readonly lost: Promise<void>
}

/** Milliseconds between two heartbeats of a lease's holder; waiting processes check as often. */
export const LEASE_HEARTBEAT_INTERVAL_MS = 500

/** When a waiting process takes a silent holder for dead (runtime/failure-detector.ts). */
export const LEASE_TIMINGS = { suspectedAfterMs: 1_500, deadAfterMs: 4_000, maxObservationGapMs: 1_000 } as const

/**
 * The build that is being filled to replace the live one. It is recorded next to the pointer to the live build and
 * survives its process: the next rebuild resumes it.
 */
export type PendingBuild = {
  readonly id: string
  /** Whether it has reached the head of the log, so that the active runner may promote it. */
  readonly isCaughtUp: boolean
}

export interface ReadStore {
  /** Undefined while another process holds the lease. A lease ends with its holder's process, or a few seconds after that hangs. */
  acquireLease(declaration: ModelDeclaration): Promise<Lease | undefined>
  /** Whether any process holds the lease now. MongoDB watches for heartbeats, for up to 2 s. */
  isLeaseHeld(declaration: ModelDeclaration): Promise<boolean>
  /** The reader of the live build. Before the first build is live, its results are empty. */
  model(declaration: ModelDeclaration): Promise<ReadModel>
  /** The live build for writing; created if there has been none. @throws ReadModelLost if it must be rebuilt */
  live(declaration: ModelDeclaration): Promise<ReadModelBuild>
  /** Whether readers use this build; another process may have promoted another one, or the build was lost. */
  isLive(declaration: ModelDeclaration, build: ReadModelBuild): Promise<boolean>
  /** Creates an empty build. The live build stays in use. */
  begin(declaration: ModelDeclaration): Promise<ReadModelBuild>
  /** Like `begin`, and records the build as pending. A previously pending build is dropped. */
  beginPendingBuild(declaration: ModelDeclaration): Promise<ReadModelBuild>
  /** The recorded pending build if it still exists. Undefined if it is live by now. */
  pendingBuild(declaration: ModelDeclaration): Promise<PendingBuild | undefined>
  /** Opens the recorded pending build. @throws StoreUnavailable if it was deleted */
  openPendingBuild(declaration: ModelDeclaration, pending: PendingBuild): Promise<ReadModelBuild>
  /** Records that the pending build has reached the head. Does nothing if another build is pending. */
  markCaughtUp(declaration: ModelDeclaration, build: ReadModelBuild): Promise<void>
  /**
   * Makes the build live in one write and clears its pending record. The old live build is dropped 60 s later.
   * @throws StoreUnavailable also if another process has taken over the model's lease
   */
  promote(declaration: ModelDeclaration, build: ReadModelBuild): Promise<void>
  /**
   * Reads the files of the live builds completely; damaged ones are renamed. Nothing is found on a server.
   * @returns also what was found since the store was opened
   */
  findDamage(declarations: readonly ModelDeclaration[]): Promise<readonly ReadModelLost[]>
  /** Deletes a build and its pending record. @throws Error for the live build */
  drop(declaration: ModelDeclaration, build: Pick<ReadModelBuild, 'id'>): Promise<void>
  close(): Promise<void>
}
