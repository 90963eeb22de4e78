import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expect } from '../api/harness/request.ts'
import { stone } from '../api/harness/stones.ts'
import { rounds } from '../rounds.ts'
import { holds } from './holds.ts'
import { nothingTold, writeUntilGone } from './load.ts'
import { withInstallation } from './serving.ts'
import { until } from '../until.ts'

const ROUNDS = rounds(2, 30)
const CLIENTS = 8

const test = suite('a service that is killed during writes')

test(`has every acknowledged write exactly once and no half bulk, ${ROUNDS} times`, () =>
  withInstallation(async ({ serve }) => {
    const told = nothingTold()
    for (let round = 0; round < ROUNDS; round++) {
      const service = await serve()
      await holds(service.ann, told)
      const before = told.created.size
      const clients = Array.from({ length: CLIENTS }, (_, client) =>
        writeUntilGone(service.ann, `${round}-${client}`, told),
      )
      await until('creates after the start', () => told.created.size - before > 200 + 50 * (round % 5))
      await service.kill()
      await Promise.all(clients)
    }
    const last = await serve()
    await holds(last.ann, told)
    assert.is(told.unanswered, ROUNDS * CLIENTS)
    assert.is(await last.stop(), 0)
  }))

test('is replaced by another process as the one that projects', () =>
  withInstallation(async ({ serve }) => {
    const first = await serve()
    const second = await serve()
    const told = nothingTold()
    const clients = Array.from({ length: 4 }, (_, client) => writeUntilGone(first.ann, `a-${client}`, told))
    await until('creates', () => told.created.size > 50)
    await first.kill()
    await Promise.all(clients)
    let created = 0
    await until('another to take over', async () => {
      const answer = await second.ann.post('/v4/diamond', stone({ sku: `after-${++created}` }))
      return expect(201, answer).headers['x-consistency'] !== 'pending'
    })
    await holds(second.ann, told)
  }))

test.run()
