import { WrongRevision, type EventStore } from '../../src/stores/ports/event-store.ts'
import { expect } from '../api/harness/request.ts'
import { startService, type Service } from '../api/harness/service.ts'
import { readExposition, type Exposition } from './exposition.ts'

const STONE = { sku: 'A-1', cutShape: 'Round', carat: 1.2, color: 'D', clarity: 'VS1' }

/** A log with one conflict: at the first append to an existing diamond's stream. */
function withOneConflict(store: EventStore): EventStore {
  let remaining = 1
  return {
    ...store,
    append: async (stream, expected, events) => {
      if (stream.startsWith('diamond-') && expected !== 'none' && remaining-- > 0)
        throw new WrongRevision(stream, expected, 'none')
      return store.append(stream, expected, events)
    },
  }
}

/**
 * A service after a workload that touches most metrics: stones created, changed and rejected, a conflict, a pending
 * secret, a failed call of a store, and a request to an unknown path.
 */
export async function serviceAfterWorkload(): Promise<Service> {
  const service = await startService({ store: withOneConflict, settings: { SECRETS_ANONYMOUS: 'true' } })
  try {
    const { ann, bob } = service
    const made = expect(201, await ann.post('/v4/diamond', STONE)).json() as { id: number }
    expect(200, await ann.patch(`/v4/diamond/${made.id}`, { sku: 'A-2' }))
    expect(403, await bob.patch(`/v4/diamond/${made.id}`, { sku: 'A-3' }))
    expect(200, await ann.get(`/v4/diamond/${made.id}`))
    expect(200, await ann.get('/v4/diamond'))
    expect(404, await service.send({ path: '/no/such/thing' }))
    await shareSecret(service)
    await failOnce(service)
    return service
  } catch (error) {
    await service.stop()
    throw error
  }
}

async function shareSecret({ send }: Service): Promise<void> {
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
  expect(200, await send({ method: 'POST', path: '/api/v1/share', headers, body: 'secret=waits&ttl=600' }))
}

/** The vault rejects a second entry with the same name. */
async function failOnce({ installation: { vault } }: Service): Promise<void> {
  const entry = { digest: 'of a test', sealed: Buffer.from('x'), createdAt: 1, expiresAt: 4e12, receipt: null }
  await vault.put(entry, [])
  await vault.put(entry, []).then(
    () => Promise.reject(new Error('the vault accepted two entries with the same name')),
    () => undefined,
  )
}

/** The current metrics. */
export async function readMetrics({ send }: Pick<Service, 'send'>): Promise<Exposition & { readonly text: string }> {
  const { text } = expect(200, await send({ path: '/metrics' }))
  return { ...readExposition(text), text }
}
