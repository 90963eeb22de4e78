import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { requestAcceptedEvents } from '../../src/commands/bulk/accepted-bulk.ts'
import { finishBulk } from '../../src/commands/bulk/accepted-bulk.ts'
import { payloadVersionOf, type EventDeclaration } from '../../src/domain/event.ts'
import { EVENTS } from '../../src/events/registry.ts'
import type { StoredEvent } from '../../src/stores/ports/event-store.ts'
import { attached } from './harness/form.ts'
import { expect } from './harness/request.ts'
import { newSender, post, shared } from './harness/secrets.ts'
import { GENEROUS_TIMEOUT_MS, startService, type Service } from './harness/service.ts'
import { created, stone } from './harness/stones.ts'
import { until } from '../until.ts'

/** Simulates the next release: every event type has one more payload version. */
const declarations = EVENTS as Record<string, EventDeclaration>
const original = { ...declarations }
for (const [type, event] of Object.entries(original)) {
  declarations[type] = {
    ...event,
    changes: [...(event.changes ?? []), { about: 'one thing more', upcast: (data) => data }],
  }
}

const test = suite<{ service: Service }>('an event')
test.before(async (given) => {
  given.service = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS, scored: true })
})
test.after(async ({ service }) => {
  await service.stop()
  Object.assign(declarations, original)
})

async function eventsOf({ installation: { store } }: Service): Promise<StoredEvent[]> {
  const events: StoredEvent[] = []
  // The store writes LogCreated itself, before any event with a version.
  for await (const event of store.readAll('start')) {
    if (declarations[event.type] !== undefined && event.type !== 'LogCreated') events.push(event)
  }
  return events
}

/** Distinct types with their versions, such as `DiamondCreated 2`. */
const typesAndVersions = (events: readonly StoredEvent[]) =>
  [...new Set(events.map(({ type, metadata }) => `${type} ${metadata['schema']}`))].toSorted()

test('is written with the version of its type in this release, by every writer', async ({ service }) => {
  const { ann, url, installation } = service
  const { id } = await created(ann)
  expect(201, await ann.post('/v4/diamond/bulk', { entries: [stone(), stone()] }, { 'Idempotency-Key': 'two' }))
  expect(200, await ann.patch(`/v4/diamond/${id}`, { price: 7 }))
  const certification = await attached(ann, id)
  expect(204, await ann.remove(`/v4/certification/${certification.id}`))
  const sender = await newSender(installation)
  const { secret_key } = await shared(url, sender, { secret: 'x' })
  expect(200, await post(url, `secret/${secret_key}`))
  await until('scores', async () => (await installation.store.readStream(`scores-${id}`)).length > 0)
  expect(204, await ann.remove(`/v4/diamond/${id}`))

  const all = typesAndVersions(await eventsOf(service))
  assert.ok(all.length >= 14, all.join(', '))
  assert.equal(
    all,
    all.map((text) => {
      const [type = ''] = text.split(' ')
      return `${type} ${payloadVersionOf(original[type] ?? {}) + 1}`
    }),
  )
})

test('keeps its version when another process finishes the request', async ({ service: { ann, installation } }) => {
  const { store, context } = installation
  const { id } = await created(ann)
  const stream = `diamond-${id}`
  const [born] = await store.readStream(stream)
  assert.ok(born)
  const older = { ...born.metadata, schema: '1' }
  const price = (value: number) => ({ set: { price: value }, removed: [] })
  const events = [
    { id: '00000000-0000-4000-8000-000000000001', type: 'DiamondPatched', data: price(1), metadata: born.metadata },
    { id: '00000000-0000-4000-8000-000000000002', type: 'DiamondPatched', data: price(2), metadata: older },
  ]
  const request = { stream: 'request-of-another', expected: 'none', body: '', diamonds: [id] } as const
  const parts = requestAcceptedEvents({
    ...request,
    appends: [{ stream, expected: 0n, events }],
    metadata: born.metadata,
  })
  await store.append(request.stream, 'none', parts)
  await finishBulk({ ...context, store: { ...store, isAppendManyAtomic: false } }, request.stream)
  const found = (await store.readStream(stream)).slice(1)
  assert.equal(
    found.map(({ metadata }) => metadata['schema']),
    ['3', '1'],
  )
  const [accepted, done] = await store.readStream(request.stream)
  assert.equal([accepted?.metadata['schema'], done?.metadata['schema']], ['2', '2'])
})

test.run()
