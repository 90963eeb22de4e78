import { scored } from '../fill.ts'
import type { Bench, Case, Group, Measurement } from '../group.ts'
import { CARRIED, UNIQUE } from '../load/measure.ts'
import { rateOf } from '../rate.ts'
import { requestText } from '../request.ts'
import type { Adamant } from '../services/adamant.ts'
import { stones } from '../stones.ts'

const CONNECTIONS = 20

/** Stops between two of the watched requests, so that they measure waiting and not their own load. */
const PAUSE = 5

/** Shares and reveals, both counted, against diamonds created one a request by the same service. */
export const secrets: Group = { name: 'secrets', long: false, prepare }

async function prepare(bench: Bench): Promise<Case[]> {
  const adamant = await bench.adamant({ RATE_LIMIT: '0' })
  const asks = stones(500).map((stone) => ({ method: 'POST', path: '/v4/diamond', json: JSON.stringify(stone) }))
  const plain = sharesAndReveals(bench, adamant, '')
  const stretched = sharesAndReveals(bench, adamant, 'passphrase')
  return [
    {
      name: `share + reveal, ${CONNECTIONS} connections, against creates`,
      unit: 'requests/s',
      ours: atRest(adamant, plain),
      other: rateOf(bench, adamant, CONNECTIONS, asks),
      target: { least: 0.5 },
    },
    { name: 'share + reveal with a passphrase', unit: 'requests/s', ours: stretched },
    {
      name: 'p99 of GET while passphrases are tried, against at rest',
      unit: 'us',
      ours: atRest(adamant, () => beside(stretched, () => slowest(bench, adamant))),
      other: atRest(adamant, () => slowest(bench, adamant)),
      target: { most: 2 },
    },
  ]
}

/** Each connection shares a secret, reads it, shares the next. */
function sharesAndReveals(bench: Bench, adamant: Adamant, passphrase: string): Measurement {
  const given = passphrase === '' ? {} : { passphrase }
  const headers = { Authorization: adamant.basic }
  const share = {
    method: 'POST',
    path: '/api/v1/share',
    headers,
    json: JSON.stringify({ secret: `the door opens with ${UNIQUE}`, ...given }),
  }
  const reveal = { method: 'POST', path: `/api/v1/secret/${CARRIED}`, json: JSON.stringify(given) }
  const requests = [share, reveal].map((ask) => requestText({ port: adamant.port }, ask))
  const carry = { first: [], pattern: '"secret_key":"([^"]+)"' }
  const load = { port: adamant.port, connections: CONNECTIONS, requests, turns: 'each', carry } as const
  return async () => (await bench.generator.measure({ ...load, seconds: bench.seconds })).rate
}

/** What was created by the turn before is scored first: its scores are no work of this turn. */
const atRest =
  (adamant: Adamant, measured: Measurement): Measurement =>
  async () => {
    await scored(adamant)
    return measured()
  }

async function beside(load: Measurement, measured: Measurement): Promise<number> {
  const [figure] = await Promise.all([measured(), load()])
  return figure
}

/** The 99th percentile of a small GET, in microseconds, for as long as a measurement lasts. */
async function slowest({ seconds }: Bench, { port, token }: Adamant): Promise<number> {
  const taken: number[] = []
  const end = performance.now() + seconds * 1000
  while (performance.now() < end) {
    const begun = performance.now()
    const answer = await fetch(`http://127.0.0.1:${port}/v4/diamond?limit=1`, {
      headers: { Authorization: `Bearer ${token}` },
    })
    await answer.arrayBuffer()
    taken.push((performance.now() - begun) * 1000)
    await new Promise((done) => setTimeout(done, PAUSE))
  }
  return taken.sort((a, b) => a - b)[Math.floor(taken.length * 0.99)] ?? 0
}
