import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { WrongRevision, type EventStore } from '../../src/stores/ports/event-store.ts'
import { attached } from './harness/form.ts'
import { attachModel, modelFile, modelRequest } from './harness/models.ts'
import { expect, refusal, type Request } from './harness/request.ts'
import { GENEROUS_TIMEOUT_MS, startService } from './harness/service.ts'
import { created } from './harness/stones.ts'
import { newOwner } from './inventory-page/browser.ts'

const test = suite('a change that loses every retry to concurrent writers')

/** Once busy, makes every append to these streams fail as if another process had written first. */
class CompetingWriter {
  busy = false

  overtake(store: EventStore): EventStore {
    const check = (stream: string): void => {
      if (this.busy && /^(?:diamond|webhooks?|feeds|certification)-/.test(stream))
        throw new WrongRevision(stream, 0n, 1n)
    }
    return {
      ...store,
      append: async (stream, expected, events) => {
        check(stream)
        return store.append(stream, expected, events)
      },
      appendMany: async (appends) => {
        for (const { stream } of appends) check(stream)
        return store.appendMany(appends)
      },
    }
  }
}

test('is rejected with 409 without internal details of the store, and succeeds when sent again', async () => {
  const others = new CompetingWriter()
  const settings = { WEBHOOKS_HTTP: 'true', WEBHOOKS_PRIVATE: 'true' }
  const service = await startService({
    readModelTimeoutMs: GENEROUS_TIMEOUT_MS,
    settings,
    store: (store) => others.overtake(store),
  })
  try {
    const { ann } = service
    const { id } = await created(ann)
    const certification = await attached(ann, id)
    expect(201, await attachModel(ann, id, modelFile('Round', 'Good', 1)))
    const made = await ann.post('/v4/webhook', { url: 'http://127.0.0.1:9999' })
    const webhook = (made.json() as { id: number }).id
    const feed = expect(201, await ann.post('/v4/feed', { name: 'one' })).json() as { id: string }
    const changes: readonly Request[] = [
      ...['v3', 'v4'].flatMap((version) => [
        { method: 'PATCH', path: `/${version}/diamond/${id}`, json: { price: 5 } },
        { method: 'DELETE', path: `/${version}/diamond/${id}` },
        { method: 'PUT', path: `/${version}/diamond/bulk`, json: { entries: [{ id, price: 5 }] } },
        { method: 'DELETE', path: `/${version}/diamond/bulk`, json: { entries: [{ id }] } },
      ]),
      { method: 'POST', path: '/v4/certification', json: { product: id, laboratory: 'GIA' } },
      { method: 'DELETE', path: `/v4/certification/${certification.id}` },
      modelRequest(id, modelFile('Round', 'Poor', 1)),
      { method: 'DELETE', path: `/v4/diamond/${id}/model` },
      { method: 'POST', path: '/v4/webhook', json: { url: 'http://127.0.0.1:9998' } },
      { method: 'PATCH', path: `/v4/webhook/${webhook}`, json: { description: 'x' } },
      { method: 'POST', path: `/v4/webhook/${webhook}/secret` },
      { method: 'DELETE', path: `/v4/webhook/${webhook}` },
      { method: 'POST', path: '/v4/feed', json: { name: 'two' } },
      { method: 'DELETE', path: `/v4/feed/${feed.id}` },
    ]
    const person = await newOwner(service)
    const stone = `/inventory/${(await created(person.owner)).id}`
    others.busy = true
    assert.match(expect(409, await person.submit(stone, { do: 'delete' })).text, 'changed by another request')
    const newFeed = { do: 'create', name: 'two', format: 'csv' }
    assert.match(expect(409, await person.submit('/inventory/feeds', newFeed)).text, 'changed by another request')
    for (const change of changes) {
      const { error } = refusal(409, await ann.send(change))
      assert.match(error.join(), 'changed by another request')
      assert.not.match(error.join(), /revision \d/)
    }
    others.busy = false
    const [first] = changes
    assert.is((await ann.send(first ?? { path: '' })).status, 200)
  } finally {
    await service.stop()
  }
})

test.run()
