import { RequestError } from '../../domain/request-error.ts'
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
  filterNamesOf,
  parseSort,
  type CountQuery,
  type DiamondPageRequest,
  type KeysetCursor,
  type DiamondListPlan,
} from './list-plan.ts'

export type DiamondListRequest = { readonly filter: DiamondFilter; readonly page: DiamondPageRequest }

/**
 * The total number of matches over all pages, and the plan restricted to cells that have diamonds.
 * @throws RequestError `invalid` if the list would scan more than its limit
 */
export async function totalOf(
  model: ReadModel,
  request: DiamondListRequest,
  plan: DiamondListPlan,
): Promise<{ total: number; plan: DiamondListPlan }> {
  const counts = plan.countsWhere === undefined ? [] : await model.counts(plan.countsWhere)
  const storedTotal = counts.reduce((sum, { documents }) => sum + documents, 0)
  if (plan.countsWhere !== undefined && storedTotal === 0) return { total: 0, plan }
  const restrictedPlan = plan.countsWhere === undefined ? plan : restrictToCounts(plan, counts)
  const { scanned } = restrictedPlan
  if (scanned === 'kept' && storedTotal > plan.maxScanned) throw scanLimitExceeded(request, plan.maxScanned)
  if (scanned !== undefined && scanned !== 'kept') await countBounded(model, scanned, request)
  return {
    total: restrictedPlan.total === 'kept' ? storedTotal : await countBounded(model, restrictedPlan.total, request),
    plan: restrictedPlan,
  }
}

async function countBounded(
  model: ReadModel,
  { where, bounded }: CountQuery,
  request: DiamondListRequest,
): Promise<number> {
  const count = await model.count(where, bounded)
  if (bounded === undefined || count <= bounded.upTo) return count
  throw scanLimitExceeded(request, bounded.upTo)
}

/** With keyset pagination one more document is read, to know whether there is a next page. */
const rowCountOf = ({ limit, after }: DiamondPageRequest): number => (after === undefined ? limit : limit + 1)

/** The documents of a page. */
export async function documentsOf(
  model: ReadModel,
  { queries, index }: DiamondListPlan,
  page: DiamondPageRequest,
  select: readonly string[],
): Promise<Document[]> {
  const documents: Document[] = []
  let { offset } = page
  for (const query of queries) {
    const limit = rowCountOf(page) - documents.length
    if (limit === 0) break
    const found = await model.find({ ...query, limit, offset, select, ...(index !== undefined && { by: index }) })
    documents.push(...found)
    // The offset skips this whole part, so counting it costs no more than the offset.
    if (found.length === 0 && offset > 0) offset -= await model.count(query.where)
    else offset = 0
  }
  return documents
}

/** The cursor of the next page, if there is one. */
export function nextCursorOf(
  documents: readonly Document[],
  { limit, after, sort }: DiamondPageRequest,
): KeysetCursor | undefined {
  const last = documents[limit - 1]
  if (after === undefined || last === undefined || documents.length <= limit) return undefined
  return [last[parseSort(sort).field] ?? 0, last['id'] ?? 0]
}

/**
 * The part of a list's filter that an index serves for any number of diamonds: the closest alternative to a refused
 * list.
 */
export function nearestServedListOf(filter: DiamondFilter, sort: Sort): { filter: DiamondFilter; sort: Sort } {
  const order = parseSort(sort)
  const servedNames = filterNamesOf(filter).filter((name) => isServed(name, filter, order) && name !== order.field)
  return { filter: Object.fromEntries(servedNames.map((name) => [name, filter[name]])), sort }
}

function scanLimitExceeded({ filter, page: { sort = NEWEST_FIRST } }: DiamondListRequest, limit: number): RequestError {
  const servedList = nearestServedListOf(filter, sort)
  const servedNames = filterNamesOf(servedList.filter)
  const alternative = [...servedNames.map((name) => parameterOf(name, filter)), `sort=${sort}`].join('&')
  const unservedName = filterNamesOf(filter).find((name) => !servedNames.includes(name))
  const message =
    `would have to scan more than ${limit.toLocaleString('en')} of your diamonds; ${alternative} works for any number. ` +
    'Or narrow the list by f[cutShape][], f[isLabGrown], f[isColored], f[caratFrom] and f[caratTo]'
  const pointer = unservedName === undefined ? 'sort' : parameterOf(unservedName, filter)
  return new RequestError('invalid', [{ pointer, message, code: 'range' }])
}

/** The name in the query; for a range, one of the given ends. */
function parameterOf(name: FilterName, { [name]: value }: DiamondFilter): string {
  const [first, last] = parametersOf(attributeOf(name))
  const isUpperOnly = typeof value === 'object' && 'to' in value && !('from' in value)
  return isUpperOnly && last !== undefined ? last : first
}
