import { parse } from 'csv-parse'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { progressBar } from '../output.ts'
import type { ApiClient } from './server.ts'

/** The bundled data set, beside src and dist; data/README.md says what its columns mean. */
const FILE = new URL('../../../data/diamonds.csv.gz', import.meta.url)

/** How many stones the data set has. */
export const DATASET_SIZE = 53_940

/** Every so many stones one is public, so that anybody may open its report page. */
const PUBLIC_EVERY = 100

/** A line of the data set as the v4 API takes it. */
export type DemoStone = Readonly<Record<string, string | number | boolean>>

/** The first `wanted` stones, in bulks. Premium is a trade name between Very Good and Ideal: here it is Excellent. */
async function* readBulks(wanted: number, size: number): AsyncGenerator<DemoStone[]> {
  const rows = parse({ columns: true })
  // Leaving the loop below ends all three; what one of them says is said by the loop.
  pipeline(createReadStream(FILE), createGunzip(), rows, () => {})
  let bulk: DemoStone[] = []
  let line = 0
  for await (const row of rows as AsyncIterable<Readonly<Record<string, string>>>) {
    bulk.push(toDemoStone(row, ++line))
    if (line === wanted) break
    if (bulk.length < size) continue
    yield bulk
    bulk = []
  }
  if (bulk.length > 0) yield bulk
}

export const skuOf = (line: number) => `DIA-${String(line).padStart(5, '0')}`

function toDemoStone({ cut, color, clarity, carat, price }: Readonly<Record<string, string>>, line: number): DemoStone {
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

/** As many as one bulk request takes. */
const BULK_SIZE = 500
/** Requests on the way at once: one is prepared and read while the service works on the other. */
const MAX_CONCURRENT_REQUESTS = 2

export type StoneCreationResult = {
  readonly stones: number
  readonly seconds: number
  /** Address of the report page of a public stone. */
  readonly reportUrl: string
  /** When the first and the last request were sent, milliseconds since 1970. */
  readonly startedAtMs: number
  readonly endedAtMs: number
}

/** Creates the first `wanted` stones of the data set over HTTP. @throws Failed when the service refuses one */
export async function createStones(api: ApiClient, wanted: number): Promise<StoneCreationResult> {
  const bar = progressBar('creating', wanted, 'stones')
  const bulks = readBulks(wanted, BULK_SIZE)
  const from = Date.now()
  const started = performance.now()
  let stones = 0
  let report = ''

  async function send(): Promise<void> {
    for (let next = await bulks.next(); next.done !== true; next = await bulks.next()) {
      const { body } = await api.post('/v4/diamond/bulk', { entries: next.value })
      stones += next.value.length
      report ||= findPublicReportUrl(body)
      bar.update(stones)
    }
  }

  await Promise.all(Array.from({ length: MAX_CONCURRENT_REQUESTS }, send))
  bar.end()
  return {
    stones,
    seconds: (performance.now() - started) / 1000,
    reportUrl: report,
    startedAtMs: from,
    endedAtMs: Date.now(),
  }
}

type StoneResponse = { readonly access: number; readonly _links: readonly { readonly href: string }[] }

const findPublicReportUrl = (body: unknown) =>
  (body as readonly StoneResponse[]).find((stone) => stone.access === 2)?._links[0]?.href ?? ''

/** What the service tells at /metrics. */
const SCORES_TOTAL_PATTERN = /^adamant_scores_total (\d+)$/m
const PROJECTION_LAG_PATTERN = /^adamant_projection_lag (\d+)$/m
/** Milliseconds between two looks. */
const POLL_INTERVAL_MS = 100

/**
 * Waits until every stone has its scores, and shows them: all were appended, and the read model is at the head of the log.
 * @returns seconds that it took
 */
export async function waitUntilScored(address: string, stones: number): Promise<number> {
  const started = performance.now()
  const bar = progressBar('scoring', stones, 'stones')
  for (;;) {
    const metrics = await (await fetch(`${address}/metrics`)).text()
    const value = (pattern: RegExp) => Number(pattern.exec(metrics)?.[1])
    bar.update(value(SCORES_TOTAL_PATTERN))
    if (value(SCORES_TOTAL_PATTERN) >= stones && value(PROJECTION_LAG_PATTERN) === 0) break
    await new Promise<void>((done) => setTimeout(done, POLL_INTERVAL_MS))
  }
  bar.end()
  return (performance.now() - started) / 1000
}
