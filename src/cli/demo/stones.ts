import { parse } from 'csv-parse'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'

/** The bundled data set, beside src and dist; data/README.md says what its columns mean. */
const FILE = new URL('../../../data/diamonds.csv.gz', import.meta.url)

/** How many stones the data set has. */
export const ALL_STONES = 53_940

/** Every so many stones one is public, so that anybody may open its report page. */
const PUBLIC_EVERY = 100

/** A line of the data set as the v4 API takes it. */
export type DemoStone = Readonly<Record<string, string | number | boolean>>

/** The first `wanted` stones, in bulks. Premium is a trade name between Very Good and Ideal: here it is Excellent. */
export async function* bulksOfStones(wanted: number, size: number): AsyncGenerator<DemoStone[]> {
  const rows = parse({ columns: true })
  // Leaving the loop below ends all three; what one of them says is said by the loop.
  pipeline(createReadStream(FILE), createGunzip(), rows, () => {})
  let bulk: DemoStone[] = []
  let line = 0
  for await (const row of rows as AsyncIterable<Readonly<Record<string, string>>>) {
    bulk.push(stone(row, ++line))
    if (line === wanted) break
    if (bulk.length < size) continue
    yield bulk
    bulk = []
  }
  if (bulk.length > 0) yield bulk
}

export const skuOf = (line: number) => `DIA-${String(line).padStart(5, '0')}`

function stone({ cut, color, clarity, carat, price }: Readonly<Record<string, string>>, line: number): DemoStone {
  return {
    sku: skuOf(line),
    cutShape: 'Round',
    carat: Number(carat),
    price: Number(price),
    clarity: clarity ?? '',
    color: color ?? '',
    cutQuality: cut === 'Premium' ? 'Excellent' : (cut ?? ''),
    isLabGrown: false,
    access: line % PUBLIC_EVERY === 1 ? 2 : 0,
  }
}
