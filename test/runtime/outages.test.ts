import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createLogger } from '../../src/runtime/logger.ts'
import { Interruption, StoreOutages } from '../../src/runtime/outages.ts'
import { OutcomeUnknown, StoreUnavailable } from '../../src/stores/ports/event-store.ts'
import { withFakeTime } from '../fake-time.ts'

type Line = [level: string, failures: unknown, message: string]

/** Store outages and the lines that they log. */
function recordOutages() {
  const lines: Line[] = []
  const at = (level: string) => (fields: Readonly<Record<string, unknown>>, message: string) =>
    void lines.push([level, fields['failures'], message])
  const outages = new StoreOutages({ error: at('error'), warn: at('warn'), info: at('info') })
  return { outages, lines }
}

const ofEventStoreDB = { store: 'EventStoreDB' }
const unavailable = new StoreUnavailable('EventStoreDB: the head could not be read: not reachable', ofEventStoreDB)

const test = suite('an outage of a store')

test('is logged when it begins, once a minute with its counts, and when it ends', () =>
  withFakeTime(async (time) => {
    const { outages, lines } = recordOutages()
    for (let second = 0; second < 130; second++) {
      for (let request = 0; request < 10; request++) outages.recordFailure(unavailable, { request: 'r' })
      await time.advance(1_000)
    }
    await time.advance(20_000)
    assert.equal(lines, [
      ['error', undefined, 'a store is unavailable; reported once a minute'],
      ['warn', 601, 'a store is still unavailable'],
      ['warn', 1201, 'a store is still unavailable'],
      ['info', 1300, 'the outage is over: nothing has failed for 10 s'],
    ])
  }))

test('is logged per store, and again when it recurs', () =>
  withFakeTime(async (time) => {
    const { outages, lines } = recordOutages()
    outages.recordFailure(unavailable, {})
    outages.recordFailure(new StoreUnavailable("MongoDB at a:1 can't be used now", { store: 'MongoDB' }), {})
    outages.recordFailure(new OutcomeUnknown('EventStoreDB: the append to s may be stored or not', ofEventStoreDB), {})
    await time.advance(20_000)
    outages.recordFailure(unavailable, {})
    assert.equal(
      lines.map(([level]) => level),
      ['error', 'error', 'info', 'info', 'error'],
    )
  }))

test('is assigned to the store that the error or its cause names', () => {
  const wrapped = new OutcomeUnknown('an append may be stored or not', { cause: unavailable })
  const ofFiles = new StoreUnavailable('/var/lib/adamant/events.db is closed')
  assert.equal(
    [unavailable, wrapped, ofFiles].map(({ store }) => store),
    ['EventStoreDB', 'EventStoreDB', 'a file or disk'],
  )
})

test('is logged once, not again for each task that it interrupts', () =>
  withFakeTime(async (time) => {
    const lines: (readonly [level: string, entry: object])[] = []
    const at = (level: string) => (entry: object) => void lines.push([level, entry])
    const work = new Interruption('scoring', { warn: at('warn'), info: at('info') })
    work.recordFailure(unavailable)
    assert.equal(lines.splice(0), [['warn', { err: unavailable, name: 'scoring', repeats: true }]])
    work.end()
    assert.equal(lines, [])

    const ours = new TypeError('ours')
    for (let second = 0; second <= 60; second++) {
      work.recordFailure(ours)
      if (second < 60) await time.advance(1_000)
    }
    work.end()
    work.end()
    assert.equal(lines, [
      ['warn', { err: ours, name: 'scoring' }],
      ['warn', { err: ours, name: 'scoring', failures: 61, seconds: 60 }],
      ['info', { name: 'scoring', failures: 61, seconds: 60 }],
    ])
  }))

test('is logged without a stack, and suppresses no other line', () => {
  const written: Record<string, unknown>[] = []
  const log = createLogger('info', { write: (line) => void written.push(JSON.parse(line) as Record<string, unknown>) })
  for (let count = 0; count < 3; count++)
    log.error({ err: unavailable, request: `r-${count}`, repeats: true }, 'request failed')
  log.warn(
    { err: unavailable, secret: 'digest' },
    'an expired secret was deleted, but its expiry could not be recorded',
  )
  log.error({ err: new TypeError('ours'), request: 'r-4' }, 'request failed')
  assert.equal(
    written.map(({ msg }) => msg),
    [
      'a store is unavailable; reported once a minute',
      'an expired secret was deleted, but its expiry could not be recorded',
      'request failed',
    ],
  )
  const [{ time: _, ...first } = {}] = written
  assert.equal(first, {
    level: 50,
    request: 'r-0',
    store: 'EventStoreDB',
    reason: unavailable.message,
    msg: written[0]?.['msg'],
  })
})

test.run()
