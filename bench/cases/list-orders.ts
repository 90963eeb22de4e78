import { fill, scored } from '../fill.ts'
import type { Bench, Case, Group } from '../group.ts'
import { rateOf } from '../rate.ts'
import type { Service } from '../services/service.ts'

/** What a page costs by where it is, and by what is filtered and ordered by, beside the first one of all stones. */
export const listOrdersAmong = (stones: number, name: string, long: boolean): Group => ({
  name,
  long,
  prepare: (bench) => prepare(bench, stones),
})

export const listOrders: Group = listOrdersAmong(20_000, 'list-orders', false)
export const listOrdersOfAMillion: Group = listOrdersAmong(1_000_000, 'list-orders-1m', true)

/** How much more than the first page of all stones a filtered and sorted one may cost. */
const FILTERED = 5

/** Of the stones that inventories are filled with, 2 of 500 are of 0.93 to 0.95 carat and 78 of 0.72 to 0.74. */
const MANY = 100_000

/** Pages that an index serves among however many stones, and one that few are looked through for. */
const pages = (few: string): readonly (readonly [name: string, query: string])[] => [
  ['by price', 'sort=-price'],
  ['by price, the least first', 'sort=price'],
  ['by carat, from place to place', 'sort=carat&after='],
  ['by sku', 'sort=sku'],
  ['of a shape, by score', 'f[cutShape][]=Round&sort=-integral'],
  ['not grown in a laboratory, by price', 'f[isLabGrown]=0&f[isColored]=0&sort=price'],
  ['of a range of carats, by carat', `${few}&sort=carat`],
  [
    'of few carats, by colour and clarity, by price',
    `${few}&f[color][]=E&f[color][]=F&f[color][]=H&f[clarity][]=VS2&f[clarity][]=SI2&sort=price`,
  ],
]

async function prepare(bench: Bench, stones: number): Promise<Case[]> {
  const service = await bench.adamant()
  await fill(service, stones)
  await scored(service)
  const cost = (path: string) => {
    const rate = rateOf(bench, service, 20, [{ method: 'GET', path }])
    return async () => 1_000_000 / (await rate())
  }
  const few = stones > MANY ? 'f[caratFrom]=0.93&f[caratTo]=0.95' : 'f[caratFrom]=0.72&f[caratTo]=0.74'
  const among = `among ${stones.toLocaleString('en')}`
  return [
    {
      name: `the last list page ${among} by its place, against the first`,
      unit: 'us',
      ours: cost(await lastPage(service)),
      other: cost('/v4/diamond?after='),
      target: { most: 1.3 },
    },
    ...pages(few).map(([name, query]): Case => ({
      name: `the first list page ${among} ${name}, against the first of all`,
      unit: 'us',
      ours: cost(`/v4/diamond?${query}`),
      other: cost('/v4/diamond'),
      target: { most: FILTERED },
    })),
  ]
}

/** Follows the pages to the end, and gives the address of the last. */
async function lastPage({ port, token }: Service): Promise<string> {
  let path = '/v4/diamond?limit=995&after='
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: `Bearer ${token}` } })
    await answer.arrayBuffer()
    const [, next] = /<[^>]*?(\/v4\/[^>]+)>; rel="next"/.exec(answer.headers.get('link') ?? '') ?? []
    if (answer.status !== 200) throw new Error(`${path} was answered with ${answer.status}`)
    if (next === undefined) return path.replace('limit=995', 'limit=25')
    path = next
  }
}
