import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { toEventMetadata } from '../../src/events/event-metadata.ts'
import type { EventStore } from '../../src/stores/ports/event-store.ts'
import type { Lease, ReadStore } from '../../src/stores/ports/read-store.ts'
import { expect } from '../api/harness/request.ts'
import { newSender, reveal, shared } from '../api/harness/secrets.ts'
import { startService, type Service } from '../api/harness/service.ts'
import { servicesInFolder } from '../api/harness/folder.ts'
import { created, list, shown, stone } from '../api/harness/stones.ts'
import { until } from '../until.ts'
import { openFiles } from '../open-files.ts'

const test = suite('a service')

const TIMES = 10

/** Wraps a read store so that calling the functions in `held` makes it lose its leases, as after an election. */
function withLosableLeases(held: Set<() => Promise<void>>): (reads: ReadStore) => ReadStore {
  async function lease(real: Lease | undefined): Promise<Lease | undefined> {
    if (real === undefined) return undefined
    let lose = () => {}
    const lost = new Promise<void>((done) => (lose = done))
    const release = async () => {
      held.delete(take)
      await real.release()
    }
    const take = async () => {
      await release()
      lose()
    }
    held.add(take)
    return { release, lost }
  }
  return (reads) => ({ ...reads, acquireLease: async (declaration) => lease(await reads.acquireLease(declaration)) })
}

/** A log on which a bulk may be left half done. */
const notAtomic = (store: EventStore): EventStore => ({ ...store, isAppendManyAtomic: false })

/** Stores a bulk that was accepted 40 s ago and never completed. @returns its stream */
async function appendHalfBulk({ installation: { store } }: Service, owner: number, id: number): Promise<string> {
  const stream = `request-${randomUUID()}`
  const written = toEventMetadata({ actor: `account-${owner}`, via: 'http', correlation: 'x' }, Date.now() - 40_000)
  const data = { id, owner, date: 1_700_000_000, set: { sku: `half-${id}`, cutShape: 2, carat: 1 } }
  const change = { id: randomUUID(), type: 'DiamondCreated', data }
  const changes = [{ stream: `diamond-${id}`, expected: null, events: [change] }]
  const accepted = { body: 'b', diamonds: [id], part: 1, parts: 1, changes }
  await store.append(stream, 'none', [{ id: randomUUID(), type: 'RequestAccepted', data: accepted, metadata: written }])
  return stream
}

test('loses and reacquires its leases ten times, after which all its background jobs continue', async () => {
  const held = new Set<() => Promise<void>>()
  const service = await startService({ reads: withLosableLeases(held), store: notAtomic, scored: true })
  const { ann, url, installation } = service
  const sender = await newSender(installation)
  for (let time = 1; time <= TIMES; time++) {
    const leases = held.size
    assert.ok(leases >= 5, `only ${leases} leases`)
    await Promise.all([...held].map((lose) => lose()))
    assert.is(held.size, 0)
    await until('all leases to be reacquired', () => held.size === leases)
    const half = await appendHalfBulk(service, ann.account, 1_000_000 + time)
    const response = expect(201, await ann.post('/v4/diamond', stone({ sku: `s-${time}` })))
    assert.is(response.headers['x-consistency'], undefined, 'the lists are behind')
    const isScored = async () => !/"optical":null/.test((await ann.get(`/v4/diamond/${shown(response).id}`)).text)
    const isDone = async () => (await installation.store.readStream(half)).at(-1)?.type === 'RequestDone'
    await until(`half bulk ${time} to be finished`, isDone)
    await until(`stone ${time} to be scored`, isScored)
  }
  const secret = await shared(url, sender, { secret: 'x' })
  expect(200, await reveal(url, secret.secret_key))
  assert.is(list(await ann.get('/v4/diamond?limit=1000')).length, 2 * TIMES)
  await service.stop()
})

test('starts and stops ten times without leaving files open', () =>
  servicesInFolder(async (start) => {
    const open: number[] = []
    for (let time = 1; time <= TIMES; time++) {
      const service = await start('http,projections')
      await created(service.ann)
      assert.is(list(await service.ann.get('/v4/diamond')).length, 1)
      await service.stop()
      open.push(openFiles().length)
    }
    assert.ok((open.at(-1) ?? 0) <= (open[1] ?? 0) + 1, `open files: ${open.join()}`)
  }))

test.run()
