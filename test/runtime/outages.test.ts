import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openLog } from '../../src/runtime/log.ts'
import { Outages } from '../../src/runtime/outages.ts'
import { OutcomeUnknown, StoreUnavailable } from '../../src/stores/ports/event-store.ts'

/** A clock that goes on when it is told to, and what was written by then: level, failures, message. */
function given() {
  const lines: [level: string, failures: unknown, message: string][] = []
  const due: { at: number; run: () => void }[] = []
  let now = 0
  const clock = { now: () => now, later: (ms: number, run: () => void) => void due.push({ at: now + ms, run }) }
  const outages = new Outages((level, { failures }, message) => lines.push([level, failures, message]), clock)
  const pass = (ms: number) => {
    now += ms
    for (const one of due.splice(0)) {
      if (one.at <= now) one.run()
      else due.push(one)
    }
  }
  return { outages, lines, pass }
}

const away = new StoreUnavailable('EventStoreDB: the head could not be read: not reachable')

const test = suite('an outage of a store')

test('is one line when it begins, one a minute with its counts, and one at its end', () => {
  const { outages, lines, pass } = given()
  for (let second = 0; second < 130; second++) {
    for (let request = 0; request < 10; request++) outages.failed(away, { request: 'r' })
    pass(1_000)
  }
  for (let second = 0; second < 20; second++) pass(1_000)
  assert.equal(lines, [
    ['error', undefined, 'a store is away; telling once a minute'],
    ['warn', 601, 'a store is still away'],
    ['warn', 1201, 'a store is still away'],
    ['info', 1300, 'the outage is over: nothing has failed for 10 s'],
  ])
})

test('is told of each store by itself, and again when it comes again', () => {
  const { outages, lines, pass } = given()
  outages.failed(away, {})
  outages.failed(new StoreUnavailable("MongoDB at a:1 can't be used now"), {})
  outages.failed(new OutcomeUnknown('EventStoreDB: the append to s may be stored or not'), {})
  pass(20_000)
  outages.failed(away, {})
  assert.equal(
    lines.map(([level]) => level),
    ['error', 'error', 'info', 'info', 'error'],
  )
})

test('has no stack in the log, and hides nothing else that is told meanwhile', () => {
  const written: Record<string, unknown>[] = []
  const log = openLog('info', { write: (line) => void written.push(JSON.parse(line) as Record<string, unknown>) })
  for (let count = 0; count < 3; count++)
    log.error({ err: away, request: `r-${count}`, repeats: true }, 'request failed')
  log.warn({ err: away, secret: 'digest' }, 'a secret was deleted by its time, and its end is not on record')
  log.error({ err: new TypeError('ours'), request: 'r-4' }, 'request failed')
  assert.equal(
    written.map(({ msg }) => msg),
    [
      'a store is away; telling once a minute',
      'a secret was deleted by its time, and its end is not on record',
      'request failed',
    ],
  )
  const [{ time: _, ...first } = {}] = written
  assert.equal(first, {
    level: 50,
    request: 'r-0',
    store: 'EventStoreDB',
    reason: away.message,
    msg: written[0]?.['msg'],
  })
})

test.run()
