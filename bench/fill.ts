import { UNIQUE } from './load/measure.ts'
import type { Service } from './services/service.ts'
import { stones, type Stone } from './stones.ts'

const BULK = 500

/** A stone that a filling made. */
export type Filled = { readonly id: number; readonly sku: string }

export type Version = 'v3' | 'v4'

/**
 * Creates stones in bulks over HTTP, several at a time.
 * @param form a stone's JSON for the version, from a real stone
 * @returns the stones of the last bulks, at most 10,000: enough to ask for
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
  if (!answer.ok) throw new Error(`a bulk was answered with ${answer.status}: ${(await answer.text()).slice(0, 1000)}`)
  return ((await answer.json()) as Filled[]).map(({ id, sku }) => ({ id, sku }))
}

/** Milliseconds that scoring may take, and between two looks at it. */
const SCORING_TIME = 30 * 60_000
const LOOK = 500

/**
 * Waits until every stone is scored, so that lists are measured and not what is computed beside them.
 * @throws Error when that takes half an hour
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
