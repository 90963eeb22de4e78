import type { Bench, Case, CaseGroup } from '../group.ts'
import { CARRIED } from '../load/measure.ts'
import { requestText } from '../request.ts'
import type { Adamant } from '../services/adamant.ts'

const CONNECTIONS = 20

/**
 * Refresh grants. Each connection has a separate session and uses the refresh token of each response for the next
 * request.
 */
export const refresh: CaseGroup = { name: 'refresh', isLong: false, prepare }

async function prepare(bench: Bench): Promise<Case[]> {
  const adamant = await bench.adamant()
  const grant = new URLSearchParams({ grant_type: 'refresh_token', ...adamant.client })
  const path = `/api/oauth/v2/token?${grant.toString()}&refresh_token=${CARRIED}`
  const requests = [requestText({ port: adamant.port }, { method: 'POST', path })]
  const ours = async () => {
    const carry = { first: await openSessions(adamant), pattern: '"refresh_token": *"([^"]+)"' }
    const load = { port: adamant.port, connections: CONNECTIONS, seconds: bench.seconds, requests, carry }
    return (await bench.generator.measure(load)).rate
  }
  return [{ name: `refresh grant, ${CONNECTIONS} connections`, unit: 'requests/s', ours }]
}

async function openSessions(adamant: Adamant): Promise<string[]> {
  const grants = await Promise.all(Array.from({ length: CONNECTIONS }, () => adamant.logIn()))
  return grants.map((grant) => grant.refresh_token)
}
