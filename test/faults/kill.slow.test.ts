import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expect } from '../api/harness/request.ts'
import { stone } from '../api/harness/stones.ts'
import { rounds } from '../rounds.ts'
import { assertWritesKept } from './writes-kept.ts'
import { newWriteRecord, writeUntilDown } from './load.ts'
import { withInstallation } from './serving.ts'
import { until } from '../until.ts'

const ROUNDS = rounds(2, 30)
const CLIENTS = 8

const test = suite('a service that is killed during writes')

test(`has every acknowledged write exactly once and no half bulk, ${ROUNDS} times`, () =>
  withInstallation(async ({ serve }) => {
    const record = newWriteRecord()
    for (let round = 0; round < ROUNDS; round++) {
      const service = await serve()
      await assertWritesKept(service.ann, record)
      const before = record.created.size
      const clients = Array.from({ length: CLIENTS }, (_, client) =>
        writeUntilDown(service.ann, `${round}-${client}`, record),
      )
      await until('creates after the start', () => record.created.size - before > 200 + 50 * (round % 5))
      await service.kill()
      await Promise.all(clients)
    }
    const last = await serve()
    await assertWritesKept(last.ann, record)
    assert.is(record.withoutResponse, ROUNDS * CLIENTS)
    assert.is(await last.stop(), 0)
  }))

test('is replaced by another process as the one that projects', () =>
  withInstallation(async ({ serve }) => {
    const first = await serve()
    const second = await serve()
    const record = newWriteRecord()
    const clients = Array.from({ length: 4 }, (_, client) => writeUntilDown(first.ann, `a-${client}`, record))
    await until('creates', () => record.created.size > 50)
    await first.kill()
    await Promise.all(clients)
    let created = 0
    await until('another to take over', async () => {
      const response = await second.ann.post('/v4/diamond', stone({ sku: `after-${++created}` }))
      return expect(201, response).headers['x-consistency'] !== 'pending'
    })
    await assertWritesKept(second.ann, record)
  }))

test.run()
