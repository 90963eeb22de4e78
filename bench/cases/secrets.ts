import { scored } from '../fill.ts'
import type { Bench, Case, Group, Measurement } from '../group.ts'
import { CARRIED, UNIQUE, type Load } from '../load/measure.ts'
import { percentile } from '../load/watch.ts'
import { rateOf } from '../rate.ts'
import { requestText } from '../request.ts'
import type { Adamant } from '../services/adamant.ts'
import { stones } from '../stones.ts'

const CONNECTIONS = 20

/**
 * An account can use a third of the 33 slots for key derivation (src/credentials/passphrase-kdf.ts); more would return
 * 429.
 */
const STRETCHING = 8

/** Milliseconds between two of the watched requests. */
const PAUSE = 5

type Asked = Pick<Load, 'connections' | 'requests' | 'turns' | 'carry'>

/** Shares and reveals (each counts as a request), against single creates of diamonds by the same service. */
export const secrets: Group = { name: 'secrets', long: false, prepare }

async function prepare(bench: Bench): Promise<Case[]> {
  const adamant = await bench.adamant({ RATE_LIMIT: '0' })
  const asks = stones(500).map((stone) => ({ method: 'POST', path: '/v4/diamond', json: JSON.stringify(stone) }))
  const stretching = sharesAndReveals(adamant, 'passphrase')
  return [
    {
      name: `share + reveal, ${CONNECTIONS} connections, against creates`,
      unit: 'requests/s',
      ours: atRest(adamant, rate(bench, adamant, sharesAndReveals(adamant, ''))),
      other: rateOf(bench, adamant, CONNECTIONS, asks),
      target: { least: 0.5 },
    },
    { name: 'share + reveal with a passphrase', unit: 'requests/s', ours: rate(bench, adamant, stretching) },
    {
      name: 'p99 of GET during passphrase derivation, against idle',
      unit: 'us',
      ours: atRest(adamant, slowestBeside(bench, adamant, stretching)),
      other: atRest(adamant, slowestBeside(bench, adamant, { connections: 0, requests: [] })),
      target: { most: 2 },
    },
  ]
}

/** Each connection shares a secret, reveals it, and shares the next. */
function sharesAndReveals(adamant: Adamant, passphrase: string): Asked {
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
  const connections = passphrase === '' ? CONNECTIONS : STRETCHING
  return { connections, requests, turns: 'each', carry: { first: [], pattern: '"secret_key":"([^"]+)"' } }
}

function rate({ generator, seconds }: Bench, { port }: Adamant, asked: Asked): Measurement {
  return async () => (await generator.measure({ port, seconds, ...asked })).rate
}

/** The p99 of a small GET during this load, in microseconds. */
function slowestBeside({ generator, seconds }: Bench, adamant: Adamant, asked: Asked): Measurement {
  const request = requestText(adamant, { method: 'GET', path: '/v4/diamond?limit=1' })
  const load = { port: adamant.port, seconds, ...asked, watched: { request, pause: PAUSE } }
  return async () => percentile((await generator.measure(load)).watched, 0.99)
}

/** Waits until the stones of the previous measurement are scored. */
const atRest =
  (adamant: Adamant, measured: Measurement): Measurement =>
  async () => {
    await scored(adamant)
    return measured()
  }
