import { comparePositions, type PositionOrStart } from '../../ports/event-store.ts'
import type { FieldValue, DocumentCount, ModelDeclaration, WhereClause } from '../../ports/read-store.ts'
import { toCountConditions, matchesCondition } from './filters.ts'
import { encodePosition, decodePosition, type PositionDocument } from '../position-documents.ts'

/** The maintained counts of all documents that share a value of the first counted field, such as an owner. */
export type CountGroup = {
  readonly _id: string
  /** Optimistic concurrency: each change requires the version that was read and increases it. */
  readonly version: number
  readonly of: FieldValue
  readonly sums: readonly GroupSum[]
  readonly at: PositionDocument
  /** Counts whose documents may not have been written yet; see `countInto`. */
  readonly counted: string
}

/** `values`: of the counted fields except the first. */
type GroupSum = { readonly values: readonly FieldValue[]; readonly documents: number }

/** A document's counted values, stored or about to be; null if it is removed. */
export type CountedState = { readonly revision: bigint; readonly values: readonly FieldValue[] | null }

/** `after` will be written if `before`, the stored state, has a lower revision. */
export type CountChange = {
  readonly key: string
  readonly before: CountedState | undefined
  readonly after: CountedState
}

export const emptyGroup = (of: FieldValue): Omit<CountGroup, 'version'> => ({
  _id: String(of),
  of,
  sums: [],
  at: encodePosition('start'),
  counted: serializePendingCounts([]),
})

/**
 * Counts a batch into a group. Counts are written before documents: `counted` lists what an earlier attempt has counted
 * but possibly not written, and counts as stored. So a repeated batch is not counted twice, even if it is split
 * differently.
 * @param writtenTo up to this position, the documents of all counts are written
 * @returns undefined if nothing changes
 */
export function countInto(
  group: Omit<CountGroup, 'version'>,
  changes: readonly CountChange[],
  { writtenTo, at }: { readonly writtenTo: PositionOrStart; readonly at: PositionOrStart },
): Omit<CountGroup, 'version'> | undefined {
  const pending = new Map(
    parsePendingCounts(group.counted)
      .filter((pendingCount) => isAfter(pendingCount.at, writtenTo))
      .map((pendingCount) => [pendingCount.key, pendingCount]),
  )
  const sums = new Map(group.sums.map((sum) => [JSON.stringify(sum.values), sum]))
  let hasChanged = false
  for (const { key, before, after } of changes) {
    const current = newerState(pending.get(key), before, group.of)
    if (current !== undefined && current.revision >= after.revision) continue
    const values = valuesWithinGroup(after.values, group.of)
    if (JSON.stringify(values) === JSON.stringify(current?.values ?? null)) continue
    hasChanged = true
    add(sums, current?.values ?? null, -1)
    add(sums, values, 1)
    pending.set(key, { key, revision: after.revision, values, at: encodePosition(at) })
  }
  if (!hasChanged) return undefined
  const nonZeroSums = [...sums.values()].filter(({ documents }) => documents !== 0)
  const last = isAfter(group.at, at) ? group.at : encodePosition(at)
  return {
    _id: group._id,
    of: group.of,
    sums: nonZeroSums,
    at: last,
    counted: serializePendingCounts(pending.values()),
  }
}

const isAfter = (stored: PositionDocument, position: PositionOrStart) =>
  comparePositions(decodePosition(stored), position) > 0

function newerState(
  counted: PendingCount | undefined,
  stored: CountedState | undefined,
  of: FieldValue,
): Pick<PendingCount, 'revision' | 'values'> | undefined {
  if (counted !== undefined && (stored === undefined || counted.revision > stored.revision)) return counted
  return stored && { revision: stored.revision, values: valuesWithinGroup(stored.values, of) }
}

/** The values except the first, if the first is the group's value. */
const valuesWithinGroup = (values: readonly FieldValue[] | null, of: FieldValue) =>
  values?.[0] === of ? values.slice(1) : null

function add(sums: Map<string, GroupSum>, values: readonly FieldValue[] | null, step: 1 | -1): void {
  if (values === null) return
  const name = JSON.stringify(values)
  sums.set(name, { values, documents: (sums.get(name)?.documents ?? 0) + step })
}

/** The groups that a count needs and how to sum them; undefined if maintained counts cannot answer it. */
export function planCount(declaration: ModelDeclaration, where: WhereClause) {
  const conditions = toCountConditions(declaration, where)
  const [first, ...otherFields] = declaration.counts
  if (conditions === undefined || first === undefined) return undefined
  const groupCondition = conditions[first]
  return {
    groups:
      groupCondition === undefined
        ? undefined
        : (typeof groupCondition === 'object' ? groupCondition.in : [groupCondition]).map(String),
    countsIn: ({ of, sums }: Pick<CountGroup, 'of' | 'sums'>): DocumentCount[] =>
      sums
        .filter(({ values }) =>
          otherFields.every((field, at) => {
            const condition = conditions[field]
            return condition === undefined || matchesCondition(values[at], condition)
          }),
        )
        .map(({ values, documents }) => ({
          values: Object.fromEntries(declaration.counts.map((field, at) => [field, [of, ...values][at] ?? 0])),
          documents,
        })),
  }
}

/** The values under which a document is counted, at a revision; null if it is not counted in this group. */
type PendingCount = {
  readonly key: string
  readonly revision: bigint
  readonly values: readonly FieldValue[] | null
  readonly at: PositionDocument
}

type PendingCountRow = readonly [
  key: string,
  revision: string,
  values: readonly FieldValue[] | null,
  commit: string,
  prepare: string,
]

/** Serialized as one string: reading a list of hundreds of subdocuments would cost 20 times as much as reading the sums. */
const serializePendingCounts = (counted: Iterable<PendingCount>): string =>
  JSON.stringify(
    Array.from(counted, ({ key, revision, values, at }): PendingCountRow => [
      key,
      String(revision),
      values,
      String(at.commit),
      String(at.prepare),
    ]),
  )

const parsePendingCounts = (text: string): PendingCount[] =>
  (JSON.parse(text) as PendingCountRow[]).map(([key, revision, values, commit, prepare]) => ({
    key,
    revision: BigInt(revision),
    values,
    at: { commit: BigInt(commit), prepare: BigInt(prepare) },
  }))
