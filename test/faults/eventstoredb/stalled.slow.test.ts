import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { rounds } from '../../rounds.ts'
import { stall } from '../../freeze.ts'
import { newCreateResults, createUntil } from '../create-requests.ts'
import { assertCreatedOnce } from './created-once.ts'
import { PATIENT_SERVICE } from '../server-process.ts'
import { findServers, withServers } from './servers.ts'
import { until } from '../../until.ts'

const ROUNDS = rounds(1, 10)
const CLIENTS = 6

/** Milliseconds for which the service is frozen: longer than its timeouts for EventStoreDB and MongoDB. */
const STALL = 24_000

const mongo = await findServers('a frozen service')
const test = suite('a service on EventStoreDB and MongoDB that is frozen for some seconds')

test(`does not mistake that for an outage of its servers and rejects no request, ${ROUNDS} times`, () =>
  withServers(mongo, async ({ serve, log }) => {
    const service = await serve({}, PATIENT_SERVICE)
    const results = newCreateResults()
    let isOver = false
    const clients = Array.from({ length: CLIENTS }, (_, n) => createUntil(service.ann, `${n}`, results, () => isOver))
    for (let round = 0; round < ROUNDS; round++) {
      const before = results.acknowledged.size
      await until('some stones', () => results.acknowledged.size > before + 80)
      await stall(service.pid, STALL)
    }
    const before = results.acknowledged.size
    await until('further stones', () => results.acknowledged.size > before + 80)
    isOver = true
    await Promise.all(clients)
    assert.equal(results.connectionErrors, [], 'a request got no response')
    assert.is(results.unavailableResponses, 0, service.output())
    await assertCreatedOnce(log, service.ann, results)
    assert.is(await service.stop(), 0)
  }))

if (mongo !== undefined) test.run()
