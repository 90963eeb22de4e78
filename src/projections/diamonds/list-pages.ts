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
  accessPathOf,
  restrictToCounts,
  isServed,
  filterNamesOf,
  parseSort,
  type DiamondPageRequest,
  type KeysetCursor,
  type DiamondListPlan,
} from './list-plan.ts'

export type DiamondListRequest = { readonly filter: DiamondFilter; readonly page: DiamondPageRequest }

type MeasuredList = { readonly total: number; readonly plan: DiamondListPlan }

/**
 * The total number of matches over all pages, and the plan to execute, restricted to cells that have diamonds.
 * @throws RequestError `invalid` if the list would scan more than its limit
 */
export async function totalOf(
  model: ReadModel,
  request: DiamondListRequest,
  plan: DiamondListPlan,
): Promise<MeasuredList> {
  const measured = await measure(model, plan)
  if (typeof measured !== 'number') return measured
  if (plan.otherwise !== undefined) return totalOf(model, request, plan.otherwise)
  throw scanLimitExceeded(request, measured)
}

/** @returns the limit if the plan exceeds it */
async function measure(model: ReadModel, plan: DiamondListPlan): Promise<MeasuredList | number> {
  const counts = plan.countsWhere === undefined ? [] : await model.counts(plan.countsWhere)
  const storedTotal = counts.reduce((sum, { documents }) => sum + documents, 0)
  if (plan.countsWhere !== undefined && storedTotal === 0) return { total: 0, plan }
  const restrictedPlan = plan.countsWhere === undefined ? plan : restrictToCounts(plan, counts)
  const { scanned = 'kept', total: counted } = restrictedPlan
  if (plan.scanned === 'kept' && storedTotal > plan.maxScanned) return plan.maxScanned
  let total = storedTotal
  for (const query of [scanned, counted]) {
    if (query === 'kept') continue
    total = await model.count(query.where, query.bounded)
    if (query.bounded !== undefined && total > query.bounded.upTo) return query.bounded.upTo
  }
  return { total: counted === 'kept' ? storedTotal : total, plan: restrictedPlan }
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

/** Names the filters that cause it, what works for any number of stones, and what narrows the list. */
function scanLimitExceeded({ filter, page: { sort = NEWEST_FIRST } }: DiamondListRequest, limit: number): RequestError {
  const most = `More than ${limit.toLocaleString('en')} of your stones`
  const path = accessPathOf(filter, parseSort(sort))
  if (path === 'by value') return refusalOf('f[sku][]', `${most} have these SKUs: ask for fewer SKUs at a time`)
  const served = filterNamesOf(nearestServedListOf(filter, sort).filter)
  const parametersFor = (names: readonly FilterName[]) => names.map((name) => parameterOf(name, filter))
  const causes = parametersFor(filterNamesOf(filter).filter((name) => !served.includes(name)))
  const [pointer = 'sort'] = causes
  const alternative = `${[...parametersFor(served), `sort=${sort}`].join('&')} works for any number of stones`
  return path === 'ordered'
    ? refusalOf(
        pointer,
        `${most} are in the range of ${pointer}: narrow it, or add f[cutShape][], f[isLabGrown] or f[isColored]; ${alternative}`,
      )
    : refusalOf(
        pointer,
        `${most} would have to be read, because no index serves ${causes.join(' and ')} with sort=${sort}; ${alternative}. ` +
          'Narrow the list by f[color][] and f[clarity][], or by f[cutShape][], f[isLabGrown] and f[isColored], and by f[caratFrom] and f[caratTo]',
      )
}

const refusalOf = (pointer: string, message: string) =>
  new RequestError('invalid', [{ pointer, message, code: 'range' }])

/** The name in the query; for a range, one of the given ends. */
function parameterOf(name: FilterName, { [name]: value }: DiamondFilter): string {
  const [first, last] = parametersOf(attributeOf(name))
  const isUpperOnly = typeof value === 'object' && 'to' in value && !('from' in value)
  return isUpperOnly && last !== undefined ? last : first
}
