import { RequestError } from '../../domain/decider.ts'
import type { Document, ReadModel } from '../../stores/ports/read-store.ts'
import {
  attributeOf,
  NEWEST_FIRST,
  parametersOf,
  type DiamondFilter,
  type FilterName,
  type Sort,
} from './list-attributes.ts'
import {
  restrictToCounts,
  isServed,
  namesIn,
  parseSort,
  type CountQuery,
  type DiamondPageRequest,
  type KeysetCursor,
  type DiamondListPlan,
} from './list-plan.ts'

/** A list as it was asked for. */
export type DiamondListRequest = { readonly filter: DiamondFilter; readonly page: DiamondPageRequest }

/**
 * How many match, all pages together, and the plan as far as there is something.
 * @throws Refusal invalid for a list that would look through more than it may
 */
export async function totalOf(
  model: ReadModel,
  asked: DiamondListRequest,
  plan: DiamondListPlan,
): Promise<{ total: number; plan: DiamondListPlan }> {
  const kept = plan.countsWhere === undefined ? [] : await model.counts(plan.countsWhere)
  const all = kept.reduce((sum, { documents }) => sum + documents, 0)
  if (plan.countsWhere !== undefined && all === 0) return { total: 0, plan }
  const narrowed = plan.countsWhere === undefined ? plan : restrictToCounts(plan, kept)
  const { scanned } = narrowed
  if (scanned === 'kept' && all > plan.maxScanned) throw scanLimitExceeded(asked, plan.maxScanned)
  if (scanned !== undefined && scanned !== 'kept') await countBounded(model, scanned, asked)
  return { total: narrowed.total === 'kept' ? all : await countBounded(model, narrowed.total, asked), plan: narrowed }
}

async function countBounded(
  model: ReadModel,
  { where, bounded }: CountQuery,
  asked: DiamondListRequest,
): Promise<number> {
  const count = await model.count(where, bounded)
  if (bounded === undefined || count <= bounded.upTo) return count
  throw scanLimitExceeded(asked, bounded.upTo)
}

/** Of a page by its place one document more is read, which tells whether there is another page. */
export const rowsOf = ({ limit, after }: DiamondPageRequest): number => (after === undefined ? limit : limit + 1)

/** The documents of a page whose list has several parts. */
export async function documentsOf(
  model: ReadModel,
  { queries, index }: DiamondListPlan,
  page: DiamondPageRequest,
  select: readonly string[],
): Promise<Document[]> {
  const documents: Document[] = []
  let { offset } = page
  for (const part of queries) {
    const limit = rowsOf(page) - documents.length
    if (limit === 0) break
    const found = await model.find({ ...part, limit, offset, select, ...(index !== undefined && { by: index }) })
    documents.push(...found)
    // All of the part was passed over: it has no more than the offset, and to count it costs no more.
    if (found.length === 0 && offset > 0) offset -= await model.count(part.where)
    else offset = 0
  }
  return documents
}

/** Where the page behind this one begins, if there is one. */
export function nextCursorOf(
  documents: readonly Document[],
  { limit, after, sort }: DiamondPageRequest,
): KeysetCursor | undefined {
  const last = documents[limit - 1]
  if (after === undefined || last === undefined || documents.length <= limit) return undefined
  return [last[parseSort(sort).field] ?? 0, last['id'] ?? 0]
}

/** The list that an index serves among however many diamonds, which comes nearest to one that none does. */
export function nearestServedListOf(filter: DiamondFilter, sort: Sort): { filter: DiamondFilter; sort: Sort } {
  const order = parseSort(sort)
  const kept = namesIn(filter).filter((name) => isServed(name, filter, order) && name !== order.field)
  return { filter: Object.fromEntries(kept.map((name) => [name, filter[name]])), sort }
}

function scanLimitExceeded({ filter, page: { sort = NEWEST_FIRST } }: DiamondListRequest, most: number): RequestError {
  const served = nearestServedListOf(filter, sort)
  const kept = namesIn(served.filter)
  const works = [...kept.map((name) => parameterOf(name, filter)), `sort=${sort}`].join('&')
  const first = namesIn(filter).find((name) => !kept.includes(name))
  const message =
    `more than ${most.toLocaleString('en')} of your diamonds would have to be looked through; ${works} is answered among any number. ` +
    'Or narrow it down: by f[cutShape][], f[isLabGrown], f[isColored], f[caratFrom] and f[caratTo]'
  return new RequestError('invalid', [{ pointer: first === undefined ? 'sort' : parameterOf(first, filter), message }])
}

/** As the query has it; of a range, one of the ends that were given. */
function parameterOf(name: FilterName, { [name]: wanted }: DiamondFilter): string {
  const [first, last] = parametersOf(attributeOf(name))
  const isOpen = typeof wanted === 'object' && 'to' in wanted && !('from' in wanted)
  return isOpen && last !== undefined ? last : first
}
