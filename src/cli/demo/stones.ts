import { parse } from 'csv-parse'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { memberNameOf, type ProportionField } from '../../domain/diamond/fields.ts'
import { V4_FIELDS } from '../../representations/diamond/field-schemas.ts'
import { progressBar } from '../output.ts'
import type { ApiClient } from './server.ts'

/** The bundled data set; data/README.md describes its columns. */
const FILE = new URL('../../../data/diamonds.csv.gz', import.meta.url)

/** Number of stones in the data set. */
export const DATASET_SIZE = 53_940

/** One stone in this many is public with all its data, so that its report page opens without a log-in and shows its proportions. */
const PUBLIC_EVERY = 100

/** A row of the data set as a v4 request body. */
type DemoStone = Readonly<Record<string, string | number | boolean | Readonly<Record<string, number>>>>

/** The first `count` stones, in bulks of `size`. The trade grade Premium, between Very Good and Ideal, is mapped to Excellent. */
export async function* readDemoStones(count: number, size: number): AsyncGenerator<DemoStone[]> {
  const rows = parse({ columns: true })
  // Leaving the loop below destroys all three streams, and the loop throws their errors.
  pipeline(createReadStream(FILE), createGunzip(), rows, () => {})
  let bulk: DemoStone[] = []
  let line = 0
  for await (const row of rows as AsyncIterable<Readonly<Record<string, string>>>) {
    bulk.push(toDemoStone(row, ++line))
    if (line === count) break
    if (bulk.length < size) continue
    yield bulk
    bulk = []
  }
  if (bulk.length > 0) yield bulk
}

function toDemoStone(row: Readonly<Record<string, string>>, line: number): DemoStone {
  const { cut, color, clarity, carat, price } = row
  const access = line % PUBLIC_EVERY === 1 ? 2 : 0
  return {
    sku: `DIA-${String(line).padStart(5, '0')}`,
    cutShape: 'Round',
    carat: Number(carat),
    price: Number(price),
    clarity: clarity ?? '',
    color: color ?? '',
    cutQuality: cut === 'Premium' ? 'Excellent' : (cut ?? ''),
    isLabGrown: false,
    access,
    dataAccess: access,
    proportions: proportionsOf(row),
  }
}

/** The data set's columns of proportions, and the fields that they are sent as. */
const PROPORTION_COLUMNS = {
  x: 'proportions.length',
  y: 'proportions.width',
  z: 'proportions.height',
  table: 'proportions.table',
  depth: 'proportions.depth',
} as const satisfies Record<string, ProportionField>

/** Without values that the API refuses: some lengths are 0, which stands for unknown, and one table is 95 %. */
const proportionsOf = (row: Readonly<Record<string, string>>): Record<string, number> =>
  Object.fromEntries(
    Object.entries(PROPORTION_COLUMNS)
      .map(([column, field]) => [field, Number(row[column])] as const)
      .filter(([field, value]) => V4_FIELDS[field].safeParse(value).success)
      .map(([field, value]) => [memberNameOf(field), value]),
  )

/** The maximum of a bulk request. */
const BULK_SIZE = 500
/** With two, the client prepares one request while the service processes the other. */
const MAX_CONCURRENT_REQUESTS = 2

/**
 * Creates the first `count` stones of the data set over HTTP.
 * @returns the report page of a public stone
 * @throws OperationFailure if the service rejects a request
 */
export async function createStones(api: ApiClient, count: number): Promise<string> {
  const bar = progressBar('creating', count, 'stones')
  const bulks = readDemoStones(count, BULK_SIZE)
  let stones = 0
  let reportUrl = ''

  async function send(): Promise<void> {
    for (let next = await bulks.next(); next.done !== true; next = await bulks.next()) {
      const { body } = await api.post('/v4/diamond/bulk', { entries: next.value })
      stones += next.value.length
      reportUrl ||= findPublicReportUrl(body)
      bar.update(stones)
    }
  }

  await Promise.all(Array.from({ length: MAX_CONCURRENT_REQUESTS }, send))
  bar.end()
  return reportUrl
}

type StoneResponse = { readonly access: number; readonly _links: readonly { readonly href: string }[] }

const findPublicReportUrl = (body: unknown) =>
  (body as readonly StoneResponse[]).find((stone) => stone.access === 2)?._links[0]?.href ?? ''

const SCORES_TOTAL_PATTERN = /^adamant_scores_total (\d+)$/m
const PROJECTION_LAG_PATTERN = /^adamant_projection_lag (\d+)$/m
const POLL_INTERVAL_MS = 100

/** Waits until all stones are scored and the read models have caught up with the log. */
export async function waitUntilScored(address: string, stones: number): Promise<void> {
  const bar = progressBar('scoring', stones, 'stones')
  for (;;) {
    const metrics = await (await fetch(`${address}/metrics`)).text()
    const readMetric = (pattern: RegExp) => Number(pattern.exec(metrics)?.[1])
    bar.update(readMetric(SCORES_TOTAL_PATTERN))
    if (readMetric(SCORES_TOTAL_PATTERN) >= stones && readMetric(PROJECTION_LAG_PATTERN) === 0) break
    await new Promise<void>((done) => setTimeout(done, POLL_INTERVAL_MS))
  }
  bar.end()
}
