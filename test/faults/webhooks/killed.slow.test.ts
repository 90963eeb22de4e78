import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Vendor } from '../../api/harness/account.ts'
import { expect } from '../../api/harness/request.ts'
import { stone, type Shown } from '../../api/harness/stones.ts'
import { rounds } from '../../rounds.ts'
import { randomFor, type SeededRandom } from '../../seeded.ts'
import { until } from '../../until.ts'
import { everyDiamond, withInstallation, type Serving } from '../serving.ts'
import { inventoryOf, startConsumer, readMessages } from './consuming.ts'

const ROUNDS = rounds(3, 100)
const LAX = { WEBHOOKS_HTTP: 'true', WEBHOOKS_PRIVATE: 'true' }

const test = suite('webhooks')

test(`give a consumer exactly the inventory although it and the service are killed, ${ROUNDS} times`, () =>
  withInstallation(async ({ serve }) => {
    const folder = mkdtempSync(join(tmpdir(), 'adamant-consumer-'))
    const file = join(folder, 'taken.jsonl')
    let consumer = await startConsumer(file)
    const { port } = consumer
    try {
      let service = await serve()
      const url = `http://127.0.0.1:${port}/`
      const { id } = expect(201, await service.ann.post('/v4/webhook', { url })).json() as { id: number }
      const ids: number[] = []
      for (let round = 0; round < ROUNDS; round++) {
        const random = randomFor(`webhooks killed ${round}`)
        const done = { count: 0 }
        const [first, second] = [5 + random.below(60), random.below(30)]
        const working = work(service.ann, round, ids, randomFor(`webhooks work ${round}`), done)
        await until('some changes', () => done.count >= first)
        if (round % 2 === 0) await consumer.kill()
        await until('more changes', () => done.count >= first + second)
        await service.kill()
        await working
        if (round % 2 === 0) consumer = await startConsumer(file, port)
        service = await serve()
        // Restarts the delivery, which would otherwise wait after a failed attempt.
        await reactivateWebhook(service, id)
      }
      await until('the last change', async () =>
        isSame(await listedDiamonds(service.ann), inventoryOf(readMessages(file))),
      )
      assert.ok(ids.length > ROUNDS, 'too few stones were created')
      assertOrder(file)
      assert.is(await service.stop(), 0)
    } finally {
      await consumer.kill()
      rmSync(folder, { recursive: true })
    }
  }, LAX))

/** Creates, changes and deletes stones until the service is killed, and counts the responses. */
async function work(
  ann: Vendor,
  round: number,
  ids: number[],
  random: SeededRandom,
  done: { count: number },
): Promise<void> {
  for (let step = 0; ; step++) {
    try {
      const chance = random.next()
      const id = random.pick(ids)
      if (id === undefined || chance < 0.5) {
        const made = await ann.post('/v4/diamond', stone({ sku: `R${round}-${step}` }))
        if (made.status === 201) ids.push((made.json() as Shown).id)
      } else if (chance < 0.8) await ann.patch(`/v4/diamond/${id}`, { price: 1 + random.below(10_000) })
      else await ann.remove(`/v4/diamond/${id}`)
      done.count++
    } catch (error) {
      // The service was killed during the request; the list shows whether it was executed.
      assert.instance(error, Error)
      return
    }
  }
}

async function reactivateWebhook({ ann }: Serving, id: number): Promise<void> {
  expect(200, await ann.patch(`/v4/webhook/${id}`, { state: 'paused' }))
  expect(200, await ann.patch(`/v4/webhook/${id}`, { state: 'active' }))
}

async function listedDiamonds(ann: Vendor): Promise<Map<number, object>> {
  const { diamonds } = await everyDiamond(ann, 'v4')
  return new Map(diamonds.map((one) => [one.id, one]))
}

/** Removes the origins of links, which change with each process. */
const withoutOrigins = (stone: object | undefined) =>
  JSON.stringify(stone)?.replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, '')

const isSame = (a: ReadonlyMap<number, object>, b: ReadonlyMap<number, object>) =>
  a.size === b.size && [...a].every(([id, one]) => withoutOrigins(one) === withoutOrigins(b.get(id)))

/** Asserts that cursors never decrease. After a kill or a pause, the messages in progress may be delivered again. */
function assertOrder(file: string): void {
  const numbers = readMessages(file).map(({ data }) => Number(data.cursor.split('-')[1]))
  const twice = numbers.filter((number, at) => at > 0 && number <= (numbers[at - 1] ?? 0))
  for (const [at, number] of numbers.entries()) {
    assert.ok(at === 0 || number >= (numbers[at - 1] ?? 0), `${number} came after ${numbers[at - 1]}`)
  }
  assert.ok(twice.length <= 3 * ROUNDS, `${twice.length} came twice in ${ROUNDS} rounds`)
}

test.run()
