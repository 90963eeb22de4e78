import type { AnyBulkWriteOperation, Collection, Filter } from 'mongodb'
import type { PositionOrStart } from '../../ports/event-store.ts'
import {
  ConcurrencyConflict,
  type FieldValue,
  type ModelDeclaration,
  type DocumentWrite,
} from '../../ports/read-store.ts'
import { readLinearizable } from '../linearizable-reads.ts'
import { BATCH, BATCH_WRITE_CONCERN, type MongoDatabase } from '../connection.ts'
import { isDuplicate } from '../failure.ts'
import { encodePosition } from '../position-documents.ts'
import type { BuildCollections } from './collections.ts'
import { toMongoDocument, isTombstone, keyOf, type MongoDocument } from './stored-documents.ts'
import { countInto, emptyGroup, type CountChange, type CountGroup, type CountedState } from './count-groups.ts'

const UNORDERED = { ordered: false, writeConcern: BATCH_WRITE_CONCERN }

/** The current batch's position, and the position up to which the documents of all counts are written. */
export type CountingRange = { readonly settled: PositionOrStart; readonly at: PositionOrStart }

export type CountedBuild = {
  readonly mongo: MongoDatabase
  readonly collections: BuildCollections
  readonly declaration: ModelDeclaration
}

/**
 * Updates the counts for a batch before its documents are written, and reads the stored documents.
 * The groups are read before the documents: if another process's batch is missing in the groups, their version check
 * fails; a batch that they include is recorded either in them or in the documents.
 * @returns the stored documents that the batch touches, by key
 */
export async function countBatch(
  build: CountedBuild,
  writes: readonly DocumentWrite[],
  counting: CountingRange,
): Promise<Map<string, MongoDocument>> {
  const { declaration } = build
  const [first] = declaration.counts
  const storedNow = () => readStoredDocuments(build.mongo, build.collections.documents, declaration, writes)
  if (first === undefined) return storedNow()
  const wanted = new Map<string, FieldValue>()
  for (const write of writes) if ('put' in write) addGroupValue(wanted, write.put[first])
  for (;;) {
    const groups = await groupsOf(build, wanted, counting)
    const stored = await storedNow()
    const size = wanted.size
    for (const held of stored.values()) if (!isTombstone(held)) addGroupValue(wanted, held[first])
    if (wanted.size > size) continue
    const changes = writes.map((write) => changeOf(declaration, write, stored))
    if (await writeGroups(build, groups, changes, counting)) return stored
  }
}

function addGroupValue(wanted: Map<string, FieldValue>, value: unknown): void {
  if (typeof value === 'string' || typeof value === 'number') wanted.set(String(value), value)
}

/** The groups of the batch, and those changed by batches that are not known to be complete. */
async function groupsOf(
  { mongo, collections: { groups } }: CountedBuild,
  wanted: ReadonlyMap<string, FieldValue>,
  { settled }: CountingRange,
) {
  const open = { 'at.commit': { $gt: encodePosition(settled).commit } }
  const filter = { $or: [{ _id: { $in: [...wanted.keys()] } }, open] } as Filter<CountGroup>
  const found = new Map<string, CountGroup>()
  for (const group of await mongo.call(() => groups.find(filter).toArray())) found.set(group._id, group)
  const missing = [...wanted].filter(([key]) => !found.has(key)).map(([, of]) => emptyGroup(of))
  return [...found.values(), ...missing]
}

/**
 * The batch's stored documents, with only the fields that guards and counts need. The counts derived from them are
 * written before the documents and cannot be guarded by them, so the read must include all acknowledged writes.
 * @throws ConcurrencyConflict if a document is not the one that was loaded
 */
export async function readStoredDocuments(
  mongo: MongoDatabase,
  documents: Collection<MongoDocument>,
  declaration: ModelDeclaration,
  writes: readonly DocumentWrite[],
): Promise<Map<string, MongoDocument>> {
  const keys = writes.map(keyOfWrite)
  const [key, ...others] = keys
  if (key === undefined) return new Map()
  const filter = others.length === 0 ? { _id: key } : { _id: { $in: keys } }
  const projection = Object.fromEntries(['revision', 'id', ...declaration.counts].map((name) => [name, 1]))
  const found = await readLinearizable(mongo, (options) =>
    documents.find<MongoDocument>(filter, { ...options, projection }).toArray(),
  )
  const stored = new Map(found.map((held) => [held._id, held]))
  for (const write of writes) requireUnchanged(declaration, write, stored.get(keyOfWrite(write)))
  return stored
}

/** The stored document may be newer than the write: then the batch is a repetition and changes nothing. */
function requireUnchanged({ name }: ModelDeclaration, write: DocumentWrite, stored: MongoDocument | undefined): void {
  if (write.basedOn === undefined) return
  if (stored === undefined || (stored.revision !== write.basedOn.revision && stored.revision < write.revision))
    throw new ConcurrencyConflict(name, keyOfWrite(write))
}

const keyOfWrite = (write: DocumentWrite): string => keyOf('put' in write ? (write.put['id'] ?? '') : write.remove)

function changeOf(
  { counts }: ModelDeclaration,
  write: DocumentWrite,
  stored: ReadonlyMap<string, MongoDocument>,
): CountChange {
  const key = keyOfWrite(write)
  const held = stored.get(key)
  const values = (of: Readonly<Record<string, unknown>>) => counts.map((name) => of[name] as FieldValue)
  const before: CountedState | undefined = held && {
    revision: held.revision,
    values: isTombstone(held) ? null : values(held),
  }
  return { key, before, after: { revision: write.revision, values: 'put' in write ? values(write.put) : null } }
}

/** @returns false if another process has changed a group meanwhile; the other groups may have been written */
async function writeGroups(
  { mongo, collections: { groups } }: CountedBuild,
  found: readonly (CountGroup | Omit<CountGroup, 'version'>)[],
  changes: readonly CountChange[],
  counting: CountingRange,
): Promise<boolean> {
  const operations = found.flatMap((group): AnyBulkWriteOperation<CountGroup>[] => {
    const next = countInto(group, changes, counting)
    if (next === undefined) return []
    if (!('version' in group)) return [{ insertOne: { document: { ...next, version: 1 } } }]
    const { _id, version } = group
    return [{ replaceOne: { filter: { _id, version }, replacement: { ...next, version: version + 1 } } }]
  })
  if (operations.length === 0) return true
  try {
    const done = await mongo.call(() => groups.bulkWrite(operations, UNORDERED), BATCH)
    return done.insertedCount + done.matchedCount === operations.length
  } catch (error) {
    if (isDuplicate(error)) return false
    throw error
  }
}

/** The complete document to store. A removal leaves a tombstone (stored-documents.ts). */
export const toWrittenDocument = (declaration: ModelDeclaration, write: DocumentWrite): MongoDocument =>
  'put' in write
    ? toMongoDocument(declaration, write.put, write.revision)
    : { _id: keyOfWrite(write), revision: write.revision }

/**
 * Replacements per call. FerretDB 1.24 uses one of its hundred SQLite connections for each until the call ends, so a
 * hundred deadlock. Several processes may write concurrently, so each call uses less than a third.
 */
const MAX_REPLACEMENTS_PER_CALL = 32

/**
 * Writes documents in few calls. Each replaces the stored revision that was read, if that is lower; missing documents
 * are inserted. No upsert, because it would insert a document whose guard did not match.
 * @param stored the documents as they were when the batch was counted
 * @returns false if a document has changed meanwhile; the caller decides again
 */
export async function writeDocuments(
  documents: Collection<MongoDocument>,
  next: readonly MongoDocument[],
  stored: ReadonlyMap<string, MongoDocument>,
): Promise<boolean> {
  const missing: AnyBulkWriteOperation<MongoDocument>[] = []
  const replaced: AnyBulkWriteOperation<MongoDocument>[] = []
  for (const held of next) {
    const { _id, ...replacement } = held
    const before = stored.get(_id)
    if (before === undefined) missing.push({ insertOne: { document: held } })
    else if (before.revision < held.revision)
      replaced.push({ replaceOne: { filter: { _id, revision: before.revision }, replacement } })
  }
  if (missing.length > 0 && !(await write(documents, missing))) return false
  for (let first = 0; first < replaced.length; first += MAX_REPLACEMENTS_PER_CALL)
    if (!(await write(documents, replaced.slice(first, first + MAX_REPLACEMENTS_PER_CALL)))) return false
  return true
}

async function write(
  documents: Collection<MongoDocument>,
  operations: AnyBulkWriteOperation<MongoDocument>[],
): Promise<boolean> {
  try {
    const done = await documents.bulkWrite(operations, { ordered: false, writeConcern: BATCH_WRITE_CONCERN })
    return done.insertedCount + done.matchedCount === operations.length
  } catch (error) {
    if (isDuplicate(error)) return false
    throw error
  }
}
