import { readFileSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Service } from '../api/harness/service.ts'
import { sumOf, type Exposition } from './exposition.ts'
import { readMetrics, serviceAfterWorkload } from './workload.ts'

type Given = { service: Service; metrics: Exposition }
const test = suite<Given>('the metrics of a service')
test.before(async (given) => {
  given.service = await serviceAfterWorkload()
  given.metrics = await readMetrics(given.service)
})
test.after(({ service }) => service?.stop())

test('count commands by subject and outcome', ({ metrics }) => {
  const commands = (outcome: string) => sumOf(metrics, 'adamant_commands_total', { subject: 'diamond', outcome })
  assert.equal([commands('done'), commands('refused'), commands('failed')], [2, 1, 0])
})

test('count a conflict as a retry', ({ metrics }) => {
  assert.is(sumOf(metrics, 'adamant_command_retries_total', { subject: 'diamond', reason: 'conflict' }), 1)
})

test('show the duration and the failures of store calls', ({ metrics }) => {
  const { samples } = metrics
  for (const [store, operation] of [
    ['log', 'append'],
    ['log', 'read'],
    ['read-models', 'get'],
    ['read-models', 'find'],
    ['read-models', 'write'],
    ['vault', 'put'],
  ] as const) {
    const of = { store, operation }
    const count = sumOf(metrics, 'adamant_store_duration_seconds_count', of)
    assert.ok(count > 0, `${store} ${operation}`)
    assert.is(sumOf(metrics, 'adamant_store_duration_seconds_bucket', { ...of, le: '+Inf' }), count)
    assert.ok(sumOf(metrics, 'adamant_store_duration_seconds_sum', of) > 0)
  }
  const failures = samples.filter(({ name, value }) => name === 'adamant_store_failures_total' && value > 0)
  assert.equal(
    failures.map(({ labels: { store, operation }, value }) => [store, operation, value]),
    [['vault', 'put', 1]],
  )
})

test('show pending secrets, disk space and process resources', ({ metrics }) => {
  assert.is(sumOf(metrics, 'adamant_vault_secrets'), 2)
  for (const name of [
    'adamant_data_dir_free_bytes',
    'adamant_data_dir_size_bytes',
    'process_resident_memory_bytes',
    'process_cpu_seconds_total',
  ]) {
    assert.ok(sumOf(metrics, name) > 0, name)
  }
})

test('show the position and lag of each follower by name', ({ metrics: { samples } }) => {
  const followers = (name: string) => samples.filter((one) => one.name === name).map(({ labels }) => labels['follower'])
  for (const name of ['position', 'lag', 'parked_streams', 'active']) {
    const listed = followers(`adamant_follower_${name}`)
    for (const follower of ['diamonds', 'certifications', 'secrets', 'webhooks', 'scoring', 'reports']) {
      assert.ok(listed.includes(follower), `${name} of ${follower}`)
    }
  }
})

test('follow the naming rules of Prometheus: base units, and _total for counters', ({ metrics: { types } }) => {
  for (const [name, type] of types) {
    assert.is(name.endsWith('_total'), type === 'counter', name)
    assert.not.match(name, /_(ms|milliseconds|minutes|kb|kib|percent)(_|$)/)
  }
})

/** Metrics from before labels were used, and metrics of a single engine: one table row describes a group of them. */
const GROUPED_METRICS =
  /^adamant_(log_\w+_total|work_\w+_(runs|failures)_total|projection_\w+|\w+_(position|lag|parked_streams|active))$/

test('are exactly those in the table of docs/operations.md', ({ metrics: { types } }) => {
  const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8')
  const table = /\| metric +\|[\s\S]*?\n\n/.exec(page)?.[0] ?? ''
  const inTable = new Set([...table.matchAll(/`((?:adamant|process|nodejs)_[a-z_]+)`/g)].map(([, name = '']) => name))
  assert.ok(inTable.size > 25, table)
  assert.equal(
    [...inTable].filter((name) => !types.has(name)),
    [],
    'the table lists metrics that do not exist',
  )
  assert.equal(
    [...types.keys()].filter((name) => !inTable.has(name) && !GROUPED_METRICS.test(name)),
    [],
    'the table lacks metrics',
  )
})

test.run()
