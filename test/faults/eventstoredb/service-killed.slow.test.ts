import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { rounds } from '../../rounds.ts'
import { newCreateResults, repeatOpen, createUntil } from '../create-requests.ts'
import { assertCreatedOnce } from './created-once.ts'
import { findServers, withServers } from './servers.ts'
import { until } from '../../until.ts'

const ROUNDS = rounds(2, 20)
const CLIENTS = 6

const mongo = await findServers('kill -9 of a service')
const test = suite('a service on EventStoreDB and MongoDB that is killed during writes')

test(`has every acknowledged write exactly once and no half bulk, ${ROUNDS} times`, () =>
  withServers(mongo, async ({ serve, log }) => {
    const results = newCreateResults()
    for (let round = 0; round < ROUNDS; round++) {
      const service = await serve()
      await repeatOpen(service.ann, results)
      const before = results.acknowledged.size
      const clients = Array.from({ length: CLIENTS }, (_, client) =>
        createUntil(service.ann, `${round}-${client}`, results, () => false),
      )
      await until('some stones', () => results.acknowledged.size - before > 80 + 20 * (round % 4))
      await service.kill()
      await Promise.all(clients)
    }
    assert.is(results.connectionErrors.length, ROUNDS * CLIENTS)
    const last = await serve()
    const open = results.open.length
    await repeatOpen(last.ann, results)
    await assertCreatedOnce(log, last.ann, results)
    console.log(
      `NOTE: ${results.acknowledged.size} stones were acknowledged in ${ROUNDS} rounds; at the last kill ${open} requests were open`,
    )
    assert.is(await last.stop(), 0)
  }))

if (mongo !== undefined) test.run()
