import { fill, type Filled } from '../fill.ts'
import type { Bench, Case, Group, Measurement } from '../group.ts'
import { CARRIED, UNIQUE } from '../load/measure.ts'
import { requestText } from '../request.ts'
import type { Service } from '../services/service.ts'

const CONNECTIONS = 20
const json = `{"price":1${UNIQUE}}`

/**
 * Price changes with If-Match, each connection on a separate stone, against changes of the baseline, which has no
 * ETags.
 */
export const ifMatch: Group = { name: 'if-match', long: false, prepare }

async function prepare(bench: Bench): Promise<Case[]> {
  const [adamant, plain] = [await bench.adamant(), await bench.plain()]
  const ours = guarded(bench, adamant, await fill(adamant, CONNECTIONS))
  const other = unguarded(bench, plain, await fill(plain, CONNECTIONS))
  return [{ name: `PATCH with If-Match, ${CONNECTIONS} connections`, unit: 'requests/s', ours, other }]
}

function guarded(bench: Bench, service: Service, filled: readonly Filled[]): Measurement {
  const headers = { 'If-Match': CARRIED }
  const requests = filled.map(({ id }) => patch(service, id, headers))
  return async () => {
    const first = await Promise.all(filled.map(({ id }) => etagOf(service, id)))
    const carry = { first, pattern: '\r\netag: *("[^"]+")' }
    return (await bench.generator.measure({ ...loadOf(bench, service), requests, carry })).rate
  }
}

function unguarded(bench: Bench, service: Service, filled: readonly Filled[]): Measurement {
  const requests = filled.map(({ id }) => patch(service, id))
  return async () => (await bench.generator.measure({ ...loadOf(bench, service), requests })).rate
}

const loadOf = ({ seconds }: Bench, { port }: Service) =>
  ({ port, connections: CONNECTIONS, seconds, turns: 'own' }) as const

const patch = (service: Service, id: number, headers: Readonly<Record<string, string>> = {}) =>
  requestText(service, { method: 'PATCH', path: `/v4/diamond/${id}`, headers, json })

async function etagOf({ port, token }: Service, id: number): Promise<string> {
  const headers = { authorization: `Bearer ${token}` }
  const answer = await fetch(`http://127.0.0.1:${port}/v4/diamond/${id}`, { headers })
  const etag = answer.headers.get('etag')
  if (etag === null) throw new Error(`diamond ${id} has no ETag, status ${answer.status}`)
  return etag
}
