import { UNIQUE } from './load/measure.ts'
import type { Service } from './services/service.ts'
import { stones, type Stone } from './stones.ts'

const BULK = 500

export type Filled = { readonly id: number; readonly sku: string }

export type Version = 'v3' | 'v4'

/**
 * Creates stones in bulks over HTTP, with two requests at a time.
 * @param form converts a stone to the JSON of the version
 * @returns the last created stones, at most 10,000
 */
export async function fill(
  service: Service,
  count: number,
  version: Version = 'v4',
  form: (stone: Stone) => Stone = (stone) => stone,
): Promise<Filled[]> {
  const templates = stones(BULK).map(form)
  const filled: Filled[] = []
  let sent = 0
  const lane = async () => {
    while (sent < count) {
      const entries = templates.slice(0, Math.min(BULK, count - sent))
      const first = sent
      sent += entries.length
      const body = JSON.stringify({ entries })
      let index = first
      filled.push(
        ...(await post(
          service,
          version,
          body.replaceAll(UNIQUE, () => `${version}-${index++}`),
        )),
      )
      if (filled.length > 10_000) filled.splice(0, filled.length - 10_000)
    }
  }
  await Promise.all([lane(), lane()])
  return filled
}

async function post({ port, token }: Service, version: Version, body: string): Promise<Filled[]> {
  const answer = await fetch(`http://127.0.0.1:${port}/${version}/diamond/bulk`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body,
  })
  if (!answer.ok)
    throw new Error(`creating a bulk returned status ${answer.status}: ${(await answer.text()).slice(0, 1000)}`)
  return ((await answer.json()) as Filled[]).map(({ id, sku }) => ({ id, sku }))
}

/** Milliseconds: maximum duration of scoring, and interval between checks. */
const SCORING_TIME = 30 * 60_000
const LOOK = 500

/**
 * Waits until all stones are scored, so that background scoring does not affect measurements.
 * @throws Error after half an hour
 */
export async function scored({ port }: Service): Promise<void> {
  const deadline = Date.now() + SCORING_TIME
  while (Date.now() < deadline) {
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    if (/^adamant_scoring_lag 0$/m.test(metrics)) return
    await new Promise((done) => setTimeout(done, LOOK))
  }
  throw new Error('the stones were not scored in time')
}
