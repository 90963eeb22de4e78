import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { rounds } from '../../rounds.ts'
import { stall } from '../../freeze.ts'
import { nothingAsked, wishOn } from '../wishes.ts'
import { grantedOnce } from './granted-once.ts'
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
    const asked = nothingAsked()
    let isOver = false
    const clients = Array.from({ length: CLIENTS }, (_, n) => wishOn(service.ann, `${n}`, asked, () => isOver))
    for (let round = 0; round < ROUNDS; round++) {
      const before = asked.acknowledged.size
      await until('some stones', () => asked.acknowledged.size > before + 80)
      await stall(service.pid, STALL)
    }
    const before = asked.acknowledged.size
    await until('further stones', () => asked.acknowledged.size > before + 80)
    isOver = true
    await Promise.all(clients)
    assert.equal(asked.broken, [], 'a request got no response')
    assert.is(asked.refused, 0, service.said())
    await grantedOnce(log, service.ann, asked)
    assert.is(await service.stop(), 0)
  }))

if (mongo !== undefined) test.run()
