import { fill, type CreatedStone } from '../fill.ts'
import type { Bench, Case, CaseGroup, Measurement } from '../group.ts'
import { CARRIED, UNIQUE } from '../load/measure.ts'
import { requestText } from '../request.ts'
import type { MeasuredService } from '../services/service.ts'

const CONNECTIONS = 20
const json = `{"price":1${UNIQUE}}`

/**
 * Price changes with If-Match, each connection on a separate stone, against changes of the baseline, which has no
 * ETags.
 */
export const ifMatch: CaseGroup = { name: 'if-match', isLong: false, prepare }

async function prepare(bench: Bench): Promise<Case[]> {
  const [adamant, baseline] = [await bench.adamant(), await bench.baseline()]
  const ours = conditionalPatches(bench, adamant, await fill(adamant, CONNECTIONS))
  const plainPatches = unconditionalPatches(bench, baseline, await fill(baseline, CONNECTIONS))
  return [{ name: `PATCH with If-Match, ${CONNECTIONS} connections`, unit: 'requests/s', ours, baseline: plainPatches }]
}

function conditionalPatches(bench: Bench, service: MeasuredService, filled: readonly CreatedStone[]): Measurement {
  const headers = { 'If-Match': CARRIED }
  const requests = filled.map(({ id }) => patchText(service, id, headers))
  return async () => {
    const first = await Promise.all(filled.map(({ id }) => etagOf(service, id)))
    const carry = { first, pattern: '\r\netag: *("[^"]+")' }
    return (await bench.generator.measure({ ...loadOf(bench, service), requests, carry })).rate
  }
}

function unconditionalPatches(bench: Bench, service: MeasuredService, filled: readonly CreatedStone[]): Measurement {
  const requests = filled.map(({ id }) => patchText(service, id))
  return async () => (await bench.generator.measure({ ...loadOf(bench, service), requests })).rate
}

const loadOf = ({ seconds }: Bench, { port }: MeasuredService) =>
  ({ port, connections: CONNECTIONS, seconds, order: 'one-per-connection' }) as const

const patchText = (service: MeasuredService, id: number, headers: Readonly<Record<string, string>> = {}) =>
  requestText(service, { method: 'PATCH', path: `/v4/diamond/${id}`, headers, json })

async function etagOf({ port, token }: MeasuredService, id: number): Promise<string> {
  const headers = { authorization: `Bearer ${token}` }
  const response = await fetch(`http://127.0.0.1:${port}/v4/diamond/${id}`, { headers })
  const etag = response.headers.get('etag')
  if (etag === null) throw new Error(`diamond ${id} has no ETag, status ${response.status}`)
  return etag
}
