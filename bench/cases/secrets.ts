import { waitUntilScored } from '../fill.ts'
import type { Bench, Case, CaseGroup, Measurement } from '../group.ts'
import { CARRIED, UNIQUE, type Load } from '../load/measure.ts'
import { percentile } from '../load/probe.ts'
import { measureRate } from '../rate.ts'
import { requestText } from '../request.ts'
import type { Adamant } from '../services/adamant.ts'
import { stones } from '../stones.ts'

const CONNECTIONS = 20

/**
 * An account can use a third of the 33 slots for key derivation (src/credentials/passphrase-kdf.ts); more would return
 * 429.
 */
const PASSPHRASE_CONNECTIONS = 8

/** Milliseconds between two of the watched requests. */
const PAUSE_MS = 5

type SecretsLoad = Pick<Load, 'connections' | 'requests' | 'order' | 'carry'>

/** Shares and reveals (each counts as a request), against single creates of diamonds by the same service. */
export const secrets: CaseGroup = { name: 'secrets', isLong: false, prepare }

async function prepare(bench: Bench): Promise<Case[]> {
  const adamant = await bench.adamant({ RATE_LIMIT: '0' })
  const creates = stones(500).map((stone) => ({ method: 'POST', path: '/v4/diamond', json: JSON.stringify(stone) }))
  const withPassphrase = sharesAndReveals(adamant, 'passphrase')
  return [
    {
      name: `share + reveal, ${CONNECTIONS} connections, against creates`,
      unit: 'requests/s',
      ours: afterScoring(adamant, measureSecretsRate(bench, adamant, sharesAndReveals(adamant, ''))),
      baseline: measureRate(bench, adamant, CONNECTIONS, creates),
      target: { min: 0.5 },
    },
    {
      name: 'share + reveal with a passphrase',
      unit: 'requests/s',
      ours: measureSecretsRate(bench, adamant, withPassphrase),
    },
    {
      name: 'p99 of GET during passphrase derivation, against idle',
      unit: 'us',
      ours: afterScoring(adamant, measureGetP99(bench, adamant, withPassphrase)),
      baseline: afterScoring(adamant, measureGetP99(bench, adamant, { connections: 0, requests: [] })),
      target: { max: 2 },
    },
  ]
}

/** Each connection shares a secret, reveals it, and shares the next. */
export function sharesAndReveals(adamant: Adamant, passphrase: string): SecretsLoad {
  const passphraseField = passphrase === '' ? {} : { passphrase }
  const headers = { Authorization: adamant.basic }
  const share = {
    method: 'POST',
    path: '/api/v1/share',
    headers,
    json: JSON.stringify({ secret: `the door opens with ${UNIQUE}`, ...passphraseField }),
  }
  const reveal = { method: 'POST', path: `/api/v1/secret/${CARRIED}`, json: JSON.stringify(passphraseField) }
  const requests = [share, reveal].map((request) => requestText({ port: adamant.port }, request))
  const connections = passphrase === '' ? CONNECTIONS : PASSPHRASE_CONNECTIONS
  return { connections, requests, order: 'all-per-connection', carry: { first: [], pattern: '"secret_key":"([^"]+)"' } }
}

export function measureSecretsRate({ generator, seconds }: Bench, { port }: Adamant, load: SecretsLoad): Measurement {
  return async () => (await generator.measure({ port, seconds, ...load })).rate
}

/** The p99 of a small GET during this load, in microseconds. */
function measureGetP99({ generator, seconds }: Bench, adamant: Adamant, secretsLoad: SecretsLoad): Measurement {
  const request = requestText(adamant, { method: 'GET', path: '/v4/diamond?limit=1' })
  const load = { port: adamant.port, seconds, ...secretsLoad, probe: { request, pauseMs: PAUSE_MS } }
  return async () => percentile((await generator.measure(load)).probeLatenciesUs, 0.99)
}

/** Waits until the stones of the previous measurement are scored. */
const afterScoring =
  (adamant: Adamant, measure: Measurement): Measurement =>
  async () => {
    await waitUntilScored(adamant)
    return measure()
  }
