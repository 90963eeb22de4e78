import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { toEventMetadata } from '../../src/events/event-metadata.ts'
import type { Append, EventStore } from '../../src/stores/ports/event-store.ts'
import { expect, refusal } from './harness/request.ts'
import { startService, type Service } from './harness/service.ts'
import { created, createdMany, list, shown } from './harness/stones.ts'

const test = suite('a change that is overtaken before its response')

type CompetingEvent = { readonly type: string; readonly data: Readonly<Record<string, unknown>> }

const DELETED: CompetingEvent = { type: 'DiamondDeleted', data: {} }
const PRICED: CompetingEvent = { type: 'DiamondPatched', data: { set: { price: 99 }, removed: [] } }
const META = toEventMetadata({ actor: 'account-1', via: 'http', correlation: 'another' }, Date.now())

/** Simulates another process that appends `next` right after each patch, before the patch is acknowledged. */
function overtaken(store: EventStore, next: CompetingEvent): EventStore {
  async function overtake({ stream, expected, events }: Append): Promise<void> {
    if (events[0]?.type !== 'DiamondPatched') return
    const revision = (expected === 'none' ? -1n : expected) + BigInt(events.length)
    await store.append(stream, revision, [{ id: randomUUID(), ...next, metadata: META }])
  }
  return {
    ...store,
    async append(stream, expected, events) {
      const position = await store.append(stream, expected, events)
      await overtake({ stream, expected, events })
      return position
    },
    async appendMany(appends) {
      const positions = await store.appendMany(appends)
      for (const append of appends) await overtake(append)
      return positions
    },
  }
}

/** With read models in the same process, and without. */
const ROLES = ['http,projections', 'http'] as const

async function withOvertaken(
  roles: (typeof ROLES)[number],
  next: CompetingEvent,
  run: (service: Service) => Promise<void>,
) {
  const service = await startService({ settings: { ROLES: roles }, store: (store) => overtaken(store, next) })
  try {
    await run(service)
  } finally {
    await service.stop()
  }
}

test('by a deletion returns its own result, for PATCH and PUT, v3 and v4, single and bulk', () =>
  withOvertaken('http,projections', DELETED, async ({ ann }) => {
    for (const version of ['v3', 'v4']) {
      for (const method of ['PATCH', 'PUT']) {
        const { id } = await created(ann)
        const one = await ann.send({ method, path: `/${version}/diamond/${id}`, json: { price: 5 } })
        assert.is(shown(expect(200, one))['price'], 5)
        assert.is(one.headers.etag, '"1.0"')
        refusal(404, await ann.get(`/${version}/diamond/${id}`))

        const ids = (await createdMany(ann, 3)).map((stone) => stone.id)
        const json = { entries: ids.map((each, at) => ({ id: each, price: at + 1 })) }
        const many = await ann.send({ method, path: `/${version}/diamond/bulk`, json })
        assert.equal(
          list(expect(200, many)).map((stone) => [stone.id, stone['price']]),
          ids.map((each, at) => [each, at + 1]),
        )
      }
    }
  }))

test('by a deletion returns its own result, also without read models', () =>
  withOvertaken('http', DELETED, async ({ ann }) => {
    const { id } = await created(ann)
    const response = expect(200, await ann.patch(`/v4/diamond/${id}`, { price: 5 }))
    assert.equal([shown(response)['price'], response.headers.etag], [5, '"1.0"'])
    refusal(404, await ann.get(`/v4/diamond/${id}`))
  }))

for (const roles of ROLES) {
  test(`by another change returns its own result and an ETag that is already outdated, as ${roles}`, () =>
    withOvertaken(roles, PRICED, async ({ ann }) => {
      const { id } = await created(ann)
      const response = expect(200, await ann.patch(`/v4/diamond/${id}`, { price: 5 }))
      assert.equal([shown(response)['price'], response.headers.etag], [5, '"1.0"'])
      assert.is(shown(expect(200, await ann.get(`/v4/diamond/${id}`)))['price'], 99)
      refusal(412, await ann.patch(`/v4/diamond/${id}`, { price: 6 }, { 'If-Match': String(response.headers.etag) }))
    }))
}

test.run()
