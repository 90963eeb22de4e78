import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { nothingTold, writeUntilGone, type Told } from './load.ts'
import { everyDiamond, withInstallation, type Serving } from './serving.ts'

const ROUNDS = process.env['ADAMANT_FULL'] === '1' ? 30 : 2
const CLIENTS = 8

const test = suite('a service that is killed while it writes')

/** What was acknowledged is there once, nothing is there by halves, and both lists agree. */
async function holds({ ann }: Serving, told: Told): Promise<void> {
  const [v3, v4] = await Promise.all([everyDiamond(ann, 'v3'), everyDiamond(ann, 'v4')])
  assert.is(v4.total, v4.diamonds.length)
  assert.equal(
    v3.diamonds.map(({ id, sku, price }) => [id, sku, price]),
    v4.diamonds.map(({ id, sku, price }) => [id, sku, price]),
  )
  const bySku = new Map(v4.diamonds.map((diamond) => [diamond.sku, diamond]))
  assert.is(bySku.size, v4.diamonds.length, 'a diamond is there twice')
  for (const [sku, id] of told.created) assert.is(bySku.get(sku)?.id, id, `${sku} was acknowledged as ${id}`)
  for (const [sku, price] of told.priced) assert.is(bySku.get(sku)?.['price'], price, `the price of ${sku}`)
  for (const sku of told.deleted) assert.not.ok(bySku.has(sku), `${sku} was deleted`)
  for (const skus of told.bulks) {
    assert.ok([0, skus.length].includes(skus.filter((sku) => bySku.has(sku)).length), `half of a bulk: ${skus[0]}`)
  }
}

test(`has everything that it acknowledged, once and whole, ${ROUNDS} times over`, () =>
  withInstallation(async ({ serve }) => {
    const told = nothingTold()
    for (let round = 0; round < ROUNDS; round++) {
      const service = await serve()
      await holds(service, told)
      const before = told.created.size
      const clients = Array.from({ length: CLIENTS }, (_, client) =>
        writeUntilGone(service.ann, `${round}-${client}`, told),
      )
      await until(() => told.created.size - before > 200 + 50 * (round % 5))
      await service.kill()
      await Promise.all(clients)
    }
    const last = await serve()
    await holds(last, told)
    assert.is(told.unanswered, ROUNDS * CLIENTS)
    assert.is(await last.terminate(), 0)
  }))

test('is followed at once by another one that projects', () =>
  withInstallation(async ({ serve }) => {
    const first = await serve()
    const second = await serve()
    const told = nothingTold()
    const clients = Array.from({ length: 4 }, (_, client) => writeUntilGone(first.ann, `a-${client}`, told))
    await until(() => told.created.size > 50)
    await first.kill()
    await Promise.all(clients)
    const killed = performance.now()
    let behind = true
    while (behind) {
      const answer = await second.ann.post('/v4/diamond', { sku: `after-${performance.now()}`, cutShape: 2, carat: 1 })
      assert.is(answer.status, 201)
      behind = answer.headers['x-consistency'] === 'pending'
    }
    assert.ok(performance.now() - killed < 10_000, 'hand-over took too long')
    await holds(second, told)
  }))

/** Waits for a condition that other code makes true. */
async function until(isTrue: () => boolean): Promise<void> {
  const deadline = performance.now() + 30_000
  while (!isTrue()) {
    if (performance.now() > deadline) throw new Error('it did not come true')
    await new Promise<void>((done) => setTimeout(done, 5))
  }
}

test.run()
