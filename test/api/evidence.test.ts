import * as assert from 'uvu/assert'
import { isLeaf } from '../../src/projections/tree/merkle-tree.ts'
import { all } from '../contract/event-store/given.ts'
import { leafBytes, signNow } from '../evidence/kept-by-service.ts'
import { openedNote } from '../evidence/opened-note.ts'
import { plainConsistency, plainRoot } from '../evidence/plain-tree.ts'
import { expect, refusal } from './harness/request.ts'
import { apiSuite, type Service } from './harness/service.ts'
import { created } from './harness/stones.ts'

const test = apiSuite('the event log')

const text = async (service: Service, path: string) => expect(200, await service.send({ path })).text

test('has a public signed checkpoint in the standard note format', async ({ service }) => {
  await created(service.ann, { sku: 'A-1' })
  const note = await text(service, '/log/checkpoint')
  const { size, root } = openedNote(note, await text(service, '/log/key'))
  assert.ok(size > 0)
  const leaves = (await all(service.installation.store.readAll('start'))).filter(isLeaf).map(leafBytes)
  assert.is(root, plainRoot(leaves.slice(0, size)).toString('base64'))
  assert.is(await text(service, '/log/checkpoint'), note)
})

test('proves the consistency of an older checkpoint with a newer one', async ({ service }) => {
  const key = await text(service, '/log/key')
  const before = openedNote(await text(service, '/log/checkpoint'), key)
  await created(service.ann, { sku: 'A-2' })
  await signNow(service.installation)
  const now = openedNote(await text(service, '/log/checkpoint'), key)
  assert.ok(now.size > before.size)
  const path = `/log/consistency?from=${before.size}&to=${now.size}`
  const leaves = (await all(service.installation.store.readAll('start'))).filter(isLeaf).map(leafBytes)
  const hashes = plainConsistency(before.size, leaves.slice(0, now.size)).map((hash) => hash.toString('base64'))
  assert.equal(expect(200, await service.send({ path })).json(), { from: before.size, to: now.size, hashes })
  const none = await service.send({ path: `/log/consistency?from=0&to=${now.size}` })
  assert.equal(expect(200, none).json(), { from: 0, to: now.size, hashes: [] })
})

test('has no consistency proof beyond the signed size, and rejects invalid queries', async ({ service }) => {
  const { size } = openedNote(await text(service, '/log/checkpoint'), await text(service, '/log/key'))
  const refused = async (status: number, query: string) =>
    refusal(status, await service.send({ path: `/log/consistency${query}` }))
  await refused(422, `?from=1&to=${size + 1}`)
  await refused(422, `?from=${size}&to=1`)
  await refused(400, '?from=1')
  await refused(400, '')
  await refused(400, '?from=x&to=1')
  await refused(400, `?from=1&to=${size}&form=2`)
})

test.run()
