import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { rounds } from '../../rounds.ts'
import { nothingAsked, repeatOpen, wishOn } from '../wishes.ts'
import { grantedOnce } from './granted-once.ts'
import { findServers, withServers } from './servers.ts'
import { until } from '../../until.ts'

const ROUNDS = rounds(2, 20)
const CLIENTS = 6

const mongo = await findServers('kill -9 of a service')
const test = suite('a service on EventStoreDB and MongoDB that is killed during writes')

test(`has every acknowledged write exactly once and no half bulk, ${ROUNDS} times`, () =>
  withServers(mongo, async ({ serve, log }) => {
    const asked = nothingAsked()
    for (let round = 0; round < ROUNDS; round++) {
      const service = await serve()
      await repeatOpen(service.ann, asked)
      const before = asked.acknowledged.size
      const clients = Array.from({ length: CLIENTS }, (_, client) =>
        wishOn(service.ann, `${round}-${client}`, asked, () => false),
      )
      await until('some stones', () => asked.acknowledged.size - before > 80 + 20 * (round % 4))
      await service.kill()
      await Promise.all(clients)
    }
    assert.is(asked.broken.length, ROUNDS * CLIENTS)
    const last = await serve()
    const open = asked.open.length
    await repeatOpen(last.ann, asked)
    await grantedOnce(log, last.ann, asked)
    console.log(
      `NOTE: ${asked.acknowledged.size} stones were acknowledged in ${ROUNDS} rounds; at the last kill ${open} requests were open`,
    )
    assert.is(await last.stop(), 0)
  }))

if (mongo !== undefined) test.run()
