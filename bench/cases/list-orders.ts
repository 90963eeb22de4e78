import { fill, waitUntilScored } from '../fill.ts'
import type { Bench, Case, CaseGroup } from '../group.ts'
import { measureRate } from '../rate.ts'
import type { MeasuredService } from '../services/service.ts'

/** The cost of a list page by position, filter and sort order, compared with the first page of all stones. */
export const listOrdersGroup = (stones: number, name: string, isLong: boolean): CaseGroup => ({
  name,
  isLong,
  prepare: (bench) => prepare(bench, stones),
})

export const listOrders: CaseGroup = listOrdersGroup(20_000, 'list-orders', false)
export const listOrdersOfAMillion: CaseGroup = listOrdersGroup(1_000_000, 'list-orders-1m', true)

/** The maximum ratio of the cost of a filtered and sorted first page to that of the first page of all stones. */
const MAX_RATIO = 5

/** Of the 500 stones in the bulk template, 2 have 0.93 to 0.95 carat and 78 have 0.72 to 0.74. */
const LARGE = 100_000

/** Pages that an index serves, however many stones there are, and one for which a few stones are scanned. */
const pages = (few: string): readonly (readonly [name: string, query: string])[] => [
  ['sorted by price, descending', 'sort=-price'],
  ['sorted by price, ascending', 'sort=price'],
  ['sorted by carat, with a cursor', 'sort=carat&after='],
  ['sorted by sku', 'sort=sku'],
  ['filtered by shape, sorted by performance', 'f[cutShape][]=Round&sort=-performance'],
  ['filtered by colour and clarity, sorted by price', 'f[color][]=E&f[clarity][]=VS2&sort=price'],
  ['filtered by origin and kind of colour, sorted by price', 'f[isLabGrown]=0&f[isColored]=0&sort=price'],
  ['filtered by carat, sorted by carat', `${few}&sort=carat`],
  [
    'filtered by carat, colour and clarity, sorted by price',
    `${few}&f[color][]=E&f[color][]=F&f[color][]=H&f[clarity][]=VS2&f[clarity][]=SI2&sort=price`,
  ],
]

async function prepare(bench: Bench, stones: number): Promise<Case[]> {
  const service = await bench.adamant()
  await fill(service, stones)
  await waitUntilScored(service)
  const cost = (path: string) => {
    const rate = measureRate(bench, service, 20, [{ method: 'GET', path }])
    return async () => 1_000_000 / (await rate())
  }
  const few = stones > LARGE ? 'f[caratFrom]=0.93&f[caratTo]=0.95' : 'f[caratFrom]=0.72&f[caratTo]=0.74'
  const among = `among ${stones.toLocaleString('en')}`
  return [
    {
      name: `last list page ${among} by cursor, against the first`,
      unit: 'us',
      ours: cost(await lastPage(service)),
      baseline: cost('/v4/diamond?after='),
      target: { max: 1.3 },
    },
    ...pages(few).map(([name, query]): Case => ({
      name: `first list page ${among} ${name}, against no filter and default order`,
      unit: 'us',
      ours: cost(`/v4/diamond?${query}`),
      baseline: cost('/v4/diamond'),
      target: { max: MAX_RATIO },
    })),
  ]
}

/** Follows the pages to the end and returns the path of the last one. */
async function lastPage({ port, token }: MeasuredService): Promise<string> {
  let path = '/v4/diamond?limit=995&after='
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: `Bearer ${token}` } })
    await response.arrayBuffer()
    const [, next] = /<[^>]*?(\/v4\/[^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '') ?? []
    if (response.status !== 200) throw new Error(`${path} returned status ${response.status}`)
    if (next === undefined) return path.replace('limit=995', 'limit=25')
    path = next
  }
}
