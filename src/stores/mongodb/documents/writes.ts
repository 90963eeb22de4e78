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
type CountingRange = { readonly writtenTo: PositionOrStart; readonly at: PositionOrStart }

type CountedBuild = {
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
  const readStored = () => readStoredDocuments(build.mongo, build.collections.documents, declaration, writes)
  if (first === undefined) return readStored()
  const groupValues = new Map<string, FieldValue>()
  for (const write of writes) if ('put' in write) addGroupValue(groupValues, write.put[first])
  for (;;) {
    const groups = await groupsOf(build, groupValues, counting)
    const stored = await readStored()
    const size = groupValues.size
    for (const document of stored.values()) if (!isTombstone(document)) addGroupValue(groupValues, document[first])
    if (groupValues.size > size) continue
    const changes = writes.map((write) => changeOf(declaration, write, stored))
    if (await writeGroups(build, groups, changes, counting)) return stored
  }
}

function addGroupValue(groupValues: Map<string, FieldValue>, value: unknown): void {
  if (typeof value === 'string' || typeof value === 'number') groupValues.set(String(value), value)
}

/** The groups of the batch, and those changed by batches that are not known to be complete. */
async function groupsOf(
  { mongo, collections: { groups } }: CountedBuild,
  groupValues: ReadonlyMap<string, FieldValue>,
  { writtenTo }: CountingRange,
) {
  const incomplete = { 'at.commit': { $gt: encodePosition(writtenTo).commit } }
  const filter = { $or: [{ _id: { $in: [...groupValues.keys()] } }, incomplete] } as Filter<CountGroup>
  const found = new Map<string, CountGroup>()
  for (const group of await mongo.call(() => groups.find(filter).toArray())) found.set(group._id, group)
  const missing = [...groupValues].filter(([key]) => !found.has(key)).map(([, of]) => emptyGroup(of))
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
  const stored = new Map(found.map((document) => [document._id, document]))
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
  const document = stored.get(key)
  const values = (source: Readonly<Record<string, unknown>>) => counts.map((name) => source[name] as FieldValue)
  const before: CountedState | undefined = document && {
    revision: document.revision,
    values: isTombstone(document) ? null : values(document),
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
  const inserts: AnyBulkWriteOperation<MongoDocument>[] = []
  const replacements: AnyBulkWriteOperation<MongoDocument>[] = []
  for (const document of next) {
    const { _id, ...replacement } = document
    const before = stored.get(_id)
    if (before === undefined) inserts.push({ insertOne: { document } })
    else if (before.revision < document.revision)
      replacements.push({ replaceOne: { filter: { _id, revision: before.revision }, replacement } })
  }
  if (inserts.length > 0 && !(await write(documents, inserts))) return false
  for (let first = 0; first < replacements.length; first += MAX_REPLACEMENTS_PER_CALL)
    if (!(await write(documents, replacements.slice(first, first + MAX_REPLACEMENTS_PER_CALL)))) return false
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
