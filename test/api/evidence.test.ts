import { createPublicKey, verify } from 'node:crypto'
import * as assert from 'uvu/assert'
import { FollowedProgress } from '../../src/projections/engine/followed-progress.ts'
import { isLeaf, tree } from '../../src/projections/tree/tree.ts'
import { openEvidence } from '../../src/wiring/evidence.ts'
import { all } from '../contract/event-store/given.ts'
import { leafBytes } from '../evidence/kept-by-service.ts'
import { plainConsistency, plainRoot } from '../evidence/plain-tree.ts'
import { expect, refusal } from './harness/request.ts'
import { apiSuite, type Service } from './harness/service.ts'
import { created } from './harness/stones.ts'

const test = apiSuite('the log')

const text = async (service: Service, path: string) => expect(200, await service.send({ path })).text

/** As the minute's routine does. */
async function signNow({ installation }: Service): Promise<void> {
  const model = await installation.reads.model(tree.declaration)
  const { services } = await openEvidence(installation, { model, progress: new FollowedProgress(model) })
  assert.ok(await services?.signer.sign(20_000))
}

/** Reads a signed note as its specification has it, with nothing of the service's. */
function opened(note: string, verifierKey: string) {
  const [, name, id, key = ''] = /^([^+]+)\+([0-9a-f]{8})\+(\S+)\n?$/.exec(verifierKey) ?? []
  const bytes = Buffer.from(key, 'base64')
  assert.is(bytes[0], 1)
  const publicKey = createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: bytes.subarray(1).toString('base64url') },
    format: 'jwk',
  })
  const [, signed = '', signer, signature = ''] = /^([^]*\n)\n\u2014 (\S+) (\S+)\n$/.exec(note) ?? []
  const found = Buffer.from(signature, 'base64')
  assert.is(signer, name)
  assert.is(found.subarray(0, 4).toString('hex'), id)
  assert.ok(verify(null, Buffer.from(signed), publicKey, found.subarray(4)))
  const [origin, size, root] = signed.split('\n')
  assert.is(origin, name)
  return { size: Number(size), root }
}

test('is signed for everybody, in the forms that others read', async ({ service }) => {
  await created(service.ann, { sku: 'A-1' })
  const note = await text(service, '/log/checkpoint')
  const { size, root } = opened(note, await text(service, '/log/key'))
  assert.ok(size > 0)
  const leaves = (await all(service.installation.store.readAll('start'))).filter(isLeaf).map(leafBytes)
  assert.is(root, plainRoot(leaves.slice(0, size)).toString('base64'))
  assert.is(await text(service, '/log/checkpoint'), note)
})

test('shows that an older signed root is the beginning of a newer one', async ({ service }) => {
  const key = await text(service, '/log/key')
  const before = opened(await text(service, '/log/checkpoint'), key)
  await created(service.ann, { sku: 'A-2' })
  await signNow(service)
  const now = opened(await text(service, '/log/checkpoint'), key)
  assert.ok(now.size > before.size)
  const path = `/log/consistency?from=${before.size}&to=${now.size}`
  const leaves = (await all(service.installation.store.readAll('start'))).filter(isLeaf).map(leafBytes)
  const hashes = plainConsistency(before.size, leaves.slice(0, now.size)).map((hash) => hash.toString('base64'))
  assert.equal(expect(200, await service.send({ path })).json(), { from: before.size, to: now.size, hashes })
  const none = await service.send({ path: `/log/consistency?from=0&to=${now.size}` })
  assert.equal(expect(200, none).json(), { from: 0, to: now.size, hashes: [] })
})

test('has no tree beyond what is signed, and says what is wrong with a query', async ({ service }) => {
  const { size } = opened(await text(service, '/log/checkpoint'), await text(service, '/log/key'))
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
