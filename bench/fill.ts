import { UNIQUE } from './load/measure.ts'
import type { MeasuredService } from './services/service.ts'
import { stones, type StoneJson } from './stones.ts'

/** Stones of a bulk request: its maximum. */
export const BULK_SIZE = 500

export type CreatedStone = { readonly id: number; readonly sku: string }

export type BulkVersion = 'v3' | 'v4'

/**
 * Creates stones in bulks over HTTP, with two requests at a time.
 * @param form converts a stone to the JSON of the version
 * @returns the last created stones, at most 10,000
 */
export async function fill(
  service: MeasuredService,
  count: number,
  version: BulkVersion = 'v4',
  convert: (stone: StoneJson) => StoneJson = (stone) => stone,
): Promise<CreatedStone[]> {
  const templates = stones(BULK_SIZE).map(convert)
  const created: CreatedStone[] = []
  let sent = 0
  const sendBulks = async () => {
    while (sent < count) {
      const entries = templates.slice(0, Math.min(BULK_SIZE, count - sent))
      const first = sent
      sent += entries.length
      const body = JSON.stringify({ entries })
      let index = first
      created.push(
        ...(await createBulk(
          service,
          version,
          body.replaceAll(UNIQUE, () => `${version}-${index++}`),
        )),
      )
      if (created.length > 10_000) created.splice(0, created.length - 10_000)
    }
  }
  await Promise.all([sendBulks(), sendBulks()])
  return created
}

export async function createBulk(
  { port, token }: MeasuredService,
  version: BulkVersion,
  body: string,
): Promise<CreatedStone[]> {
  const response = await fetch(`http://127.0.0.1:${port}/${version}/diamond/bulk`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body,
  })
  if (!response.ok)
    throw new Error(`creating a bulk returned status ${response.status}: ${(await response.text()).slice(0, 1000)}`)
  return ((await response.json()) as CreatedStone[]).map(({ id, sku }) => ({ id, sku }))
}

/** Milliseconds: maximum duration of scoring, and interval between checks. */
const SCORING_TIMEOUT_MS = 30 * 60_000
const POLL_INTERVAL_MS = 500

/**
 * Waits until all stones are scored, so that background scoring does not affect measurements. The plain service has no
 * scores, and no metrics.
 * @throws Error after half an hour
 */
export async function waitUntilScored(service: MeasuredService): Promise<void> {
  const deadline = Date.now() + SCORING_TIMEOUT_MS
  while (Date.now() < deadline) {
    if (await isScored(service)) return
    await new Promise((done) => setTimeout(done, POLL_INTERVAL_MS))
  }
  throw new Error('the stones were not scored in time')
}

/** Whether no stone waits for scores. */
export async function isScored({ port }: MeasuredService): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`)
  return response.status === 404 || /^adamant_follower_lag\{follower="scoring"\} 0$/m.test(await response.text())
}
