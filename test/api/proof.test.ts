import * as assert from 'uvu/assert'
import { verifyProof } from '../../src/evidence/proof.ts'
import { signNow } from '../evidence/kept-by-service.ts'
import { openedNote } from '../evidence/opened-note.ts'
import { plainRootFrom } from '../evidence/plain-tree.ts'
import { rounds } from '../rounds.ts'
import type { Vendor } from './harness/account.ts'
import { expect, refusal } from './harness/request.ts'
import { apiSuite } from './harness/service.ts'
import { created, createdMany } from './harness/stones.ts'

const test = apiSuite('the proof of a diamond')

type ProvenEvent = { readonly index: number; readonly type: string; readonly path: readonly string[] } & Record<
  string,
  unknown
>
type ShownProof = {
  readonly diamond: number
  readonly events: readonly ProvenEvent[]
  readonly checkpoint: string
  readonly key: string
}

async function proofOf(ann: Vendor, id: number): Promise<ShownProof> {
  return expect(200, await ann.get(`/v4/diamond/${id}/proof`)).json() as ShownProof
}

/** Sorts members by name at any depth: RFC 8785 for values without unusual numbers or names. */
const sorted = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(sorted)
    : typeof value === 'object' && value !== null
      ? Object.fromEntries(
          Object.keys(value)
            .toSorted()
            .map((name) => [name, sorted((value as Record<string, unknown>)[name])]),
        )
      : value

/** Verifies a proof without the code in src/evidence. @returns the types of its events */
function verifyIndependently({ events, checkpoint, key }: ShownProof): string[] {
  const { size, root } = openedNote(checkpoint, key)
  return events.map(({ index, path, ...event }) => {
    const hashes = path.map((hash) => Buffer.from(hash, 'base64'))
    const leaf = Buffer.from(JSON.stringify(sorted(event)))
    assert.is(plainRootFrom(leaf, index, size, hashes).toString('base64'), root)
    return event['type'] as string
  })
}

test('is available right after the creation and verifies without the service', async ({ ann }) => {
  const { id } = await created(ann, { sku: 'NEW', carat: 1.5 })
  const proof = await proofOf(ann, id)
  assert.equal(verifyIndependently(proof), ['DiamondCreated'])
  const { ok, diamond, events } = verifyProof(JSON.stringify(proof), proof.key)
  assert.equal({ ok, diamond, events }, { ok: true, diamond: id, events: 1 })
})

test('contains all signed events, also of a deleted diamond', async ({ service, ann }) => {
  const { id } = await created(ann, { sku: 'LIVED' })
  await proofOf(ann, id)
  expect(200, await ann.patch(`/v4/diamond/${id}`, { price: 7 }))
  assert.equal(verifyIndependently(await proofOf(ann, id)), ['DiamondCreated'])
  expect(204, await ann.remove(`/v4/diamond/${id}`))
  await signNow(service.installation)
  assert.equal(verifyIndependently(await proofOf(ann, id)), ['DiamondCreated', 'DiamondPatched', 'DiamondDeleted'])
})

test('is available only to the owner', async ({ service, ann, bob }) => {
  const { id } = await created(ann, { sku: 'MINE' })
  refusal(403, await bob.get(`/v4/diamond/${id}/proof`))
  refusal(401, await service.send({ path: `/v4/diamond/${id}/proof` }))
  refusal(404, await ann.get('/v4/diamond/999999999/proof'))
  expect(204, await ann.remove(`/v4/diamond/${id}`))
  refusal(404, await bob.get(`/v4/diamond/${id}/proof`))
})

const STONES = rounds(150, 1_000)
/** Stones created in one request. */
const AT_ONCE = 500

test(`verifies with an independent implementation for ${STONES} diamonds`, async ({ service }) => {
  const eve = await service.newVendor()
  const stones: { readonly id: number }[] = []
  while (stones.length < STONES) {
    stones.push(...(await createdMany(eve, Math.min(STONES - stones.length, AT_ONCE), `S${stones.length}`)))
  }
  await signNow(service.installation)
  for (const { id } of stones) assert.equal(verifyIndependently(await proofOf(eve, id)), ['DiamondCreated'])
})

test.run()
