import { percentile } from '../load/probe.ts'
import type { MeasuredService } from '../services/service.ts'
import { startAdamant } from '../services/adamant.ts'
import { describe, MAX_P99_RATIO, measureAtRest } from './stock.ts'
import { bulksByLot } from './stones.ts'

/** Milliseconds of GETs between two looks at the import, and beside downloads. */
const POLL_MS = 1_000
const BESIDE_MS = 10_000

/**
 * Uploads and applies a stock list whose stones have reports and proportions. Prints how long GETs of a stone take at rest, while the
 * file is read, while its stones are written, and while they are exported and streamed as changes.
 * @returns whether the p99 of GETs is within twice of that at rest throughout
 */
export async function measureImport(count: number, main: string | undefined): Promise<boolean> {
  const adamant = await startAdamant({ RATE_LIMIT: '0' }, main, 'all')
  try {
    const { getFor, atRest } = await measureAtRest(adamant)
    const measureUntil = async (isOver: () => Promise<boolean>) => {
      const latencies = await getFor(POLL_MS)
      while (!(await isOver())) latencies.push(...(await getFor(POLL_MS)))
      return latencies
    }
    let id: string | undefined
    const uploaded = upload(adamant, count).then((created) => (id = created))
    const whileReading = await measureUntil(async () => id !== undefined)
    const path = `/v4/import/${await uploaded}`
    const started = performance.now()
    await send(adamant, `${path}/apply`, { method: 'POST' })
    const whileWriting = await measureUntil(async () => (await send(adamant, path)).state === 'applied')
    const seconds = (performance.now() - started) / 1000
    const besides = async (response: () => Promise<Response>) => {
      const end = new AbortController()
      const downloading = (async () => {
        while (!end.signal.aborted) await drain(await response(), end.signal)
      })()
      const latencies = await getFor(BESIDE_MS)
      end.abort()
      await downloading
      return latencies
    }
    const whileExporting = await besides(() => request(adamant, '/v4/diamond/export?format=rapnet'))
    const whileStreaming = await besides(() =>
      request(adamant, '/v4/diamond/changes', { headers: { accept: 'text/event-stream' } }),
    )
    const ratioOf = (latencies: readonly number[]) => percentile(latencies, 0.99) / percentile(atRest, 0.99)
    console.log(`| ${count} stones with reports and proportions | | p99 to that at rest |
| --- | --- | --- |
| GET by id at rest | ${describe(atRest)} | |
| while the file is read | ${describe(whileReading)} | ${ratioOf(whileReading).toFixed(2)} |
| while the stones are written, ${seconds.toFixed(0)} s | ${describe(whileWriting)} | ${ratioOf(whileWriting).toFixed(2)} |
| while they are exported for RapNet | ${describe(whileExporting)} | ${ratioOf(whileExporting).toFixed(2)} |
| while the change stream sends them all | ${describe(whileStreaming)} | ${ratioOf(whileStreaming).toFixed(2)} |`)
    return [whileReading, whileWriting, whileExporting, whileStreaming].every(
      (latencies) => ratioOf(latencies) <= MAX_P99_RATIO,
    )
  } finally {
    await adamant.stop()
  }
}

/** @returns the id of the import */
async function upload(service: MeasuredService, count: number): Promise<string> {
  const body = new FormData()
  body.append('file', new Blob([stockList(count)]), 'stock.csv')
  const { id, state, ...rest } = await send(service, '/v4/import', { method: 'POST', body })
  if (id === undefined || state !== 'ready')
    throw new Error(`the import is ${state}: ${JSON.stringify(rest).slice(0, 1000)}`)
  return id
}

/** A CSV in RapNet's columns. */
function stockList(count: number): string {
  const lines = [...bulksByLot(count)].flat().map(({ sku, cutShape, carat, proportions }, index) => {
    const { length, width, height, table, depth, crownAngle, girdle, star, lower } = proportions as Readonly<
      Record<string, number>
    >
    const report = ['GIA', 7_000_000_000 + index]
    return [
      sku,
      cutShape,
      carat,
      ...report,
      `${length}x${width}x${height}`,
      table,
      depth,
      crownAngle,
      girdle,
      star,
      lower,
    ]
  })
  return [HEADINGS, ...lines].map((line) => line.join(',')).join('\n')
}

const HEADINGS = [
  'Stock #',
  'Shape',
  'Weight',
  'Lab',
  'Certificate #',
  'Measurements',
  'Table %',
  'Depth %',
  'Crown Angle',
  'Girdle %',
  'Star Length',
  'Lower Half',
]

type ImportJson = { readonly id?: string; readonly state?: string }

const request = ({ port, token }: MeasuredService, path: string, { headers, ...init }: RequestInit = {}) =>
  fetch(`http://127.0.0.1:${port}${path}`, { ...init, headers: { authorization: `Bearer ${token}`, ...headers } })

/** Reads a response to its end; of a stream of events, which has none, until `end` or MAX_EVENT_BYTES. */
async function drain({ body, headers }: Response, end: AbortSignal): Promise<void> {
  const isEndless = headers.get('content-type') === 'text/event-stream'
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.length
    if (isEndless && (end.aborted || bytes > MAX_EVENT_BYTES)) return
  }
}

/** Of some thousand changes. */
const MAX_EVENT_BYTES = 8_000_000

async function send(service: MeasuredService, path: string, init: RequestInit = {}): Promise<ImportJson> {
  const response = await request(service, path, init)
  if (!response.ok)
    throw new Error(`${path} returned status ${response.status}: ${(await response.text()).slice(0, 1000)}`)
  return (await response.json()) as ImportJson
}
