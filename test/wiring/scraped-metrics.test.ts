import { Registry } from 'prom-client'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { StoreUnavailable } from '../../src/stores/ports/event-store.ts'
import { oncePerScrape, registerCounters, registerGauges } from '../../src/wiring/scraped-metrics.ts'

type Given = { registry: Registry; scrape: () => Promise<string[]> }
const test = suite<Given>('a metric that is read at each scrape')
test.before.each((given) => {
  given.registry = new Registry()
  given.scrape = async () =>
    (await given.registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
})

test('has the current value, and as a counter is not added up', async ({ registry, scrape }) => {
  let count = 7
  registerGauges(registry, { gauge: ['A gauge', () => count] })
  registerCounters(registry, { counter_total: ['A counter', async () => count] })
  assert.equal(await scrape(), ['gauge 7', 'counter_total 7'])
  count = 8
  assert.equal(await scrape(), ['gauge 8', 'counter_total 8'])
})

test('has a sample for each value of its label that is known now', async ({ registry, scrape }) => {
  let lags: Record<string, number | undefined> | number = { first: 1, second: undefined }
  registerGauges(registry, { lag: ['A lag', () => lags, 'follower'] })
  assert.equal(await scrape(), ['lag{follower="first"} 1'])
  lags = { second: 2 }
  assert.equal(await scrape(), ['lag{follower="second"} 2'])
  lags = 0
  assert.equal(await scrape(), ['lag 0'])
})

test('has no sample while its store is unavailable, and the others have theirs', async ({ registry, scrape }) => {
  let isAway = true
  async function read() {
    if (isAway) throw new StoreUnavailable('away')
    return 3
  }
  registerGauges(registry, {
    of_store: ['Of a store', read],
    own: ['Our own', () => 1],
    none: ['None', () => undefined],
  })
  registerCounters(registry, { of_store_total: ['Of a store', read] })
  assert.equal(await scrape(), ['own 1'])
  isAway = false
  assert.equal(await scrape(), ['of_store 3', 'own 1', 'of_store_total 3'])
  isAway = true
  assert.equal(await scrape(), ['own 1'])
})

test('shares a reading with the others of the same scrape, not of the next one', async ({ registry, scrape }) => {
  let readings = 0
  const read = oncePerScrape(async () => ++readings)
  registerGauges(registry, { first: ['First', read], second: ['Second', async () => 10 * (await read())] })
  assert.equal(await scrape(), ['first 1', 'second 10'])
  assert.equal(await scrape(), ['first 2', 'second 20'])
})

test('reports a fault that is not an outage', async ({ registry, scrape }) => {
  registerGauges(registry, {
    faulty: ['Faulty', () => Promise.reject(new TypeError('a fault of ours'))],
    own: ['Our own', () => 1],
  })
  const error = await scrape().catch((thrown: unknown) => thrown)
  assert.instance(error, TypeError)
})

test.run()
