import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { parse } from 'yaml'
import type { Service } from '../api/harness/service.ts'
import type { Exposition } from '../monitoring/exposition.ts'
import { readMetrics, serviceAfterWorkload } from '../monitoring/workload.ts'

const folder = fileURLToPath(new URL('../../ops/prometheus/', import.meta.url))
const RULES = 'adamant.rules.yml'
const TESTS = 'adamant.rules.test.yml'
const dashboard = readFileSync(new URL('../../ops/grafana/adamant.json', import.meta.url), 'utf8')

type Rule = { alert: string; expr: string; annotations: { summary: string; do: string } }
const { groups } = parse(readFileSync(`${folder}${RULES}`, 'utf8')) as { groups: { rules: Rule[] }[] }
const rules = groups.flatMap((group) => group.rules)

type Panel = { title: string; targets: { expr: string; legendFormat: string }[] }
const { panels } = JSON.parse(dashboard) as { panels: Panel[] }

/** Every Prometheus query, with its alert or panel. */
const queries: readonly (readonly [who: string, expression: string])[] = [
  ...rules.map(({ alert, expr }) => [alert, expr] as const),
  ...panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const)),
]

type Given = { service: Service; metrics: Exposition }
const test = suite<Given>('alerts and the dashboard')
test.before(async (given) => {
  given.service = await serviceAfterWorkload()
  given.metrics = await readMetrics(given.service)
})
test.after(({ service }) => service?.stop())

const NAMES = /\b(?:adamant|process|nodejs)_\w+/g

test('query only metrics and labels that a service exports after a workload', ({ metrics }) => {
  assert.ok(queries.length > 30, `${queries.length}`)
  const printed = new Map(metrics.samples.map(({ name, labels }) => [name, labels]))
  for (const [who, expression] of queries) {
    const found = [...expression.matchAll(/\b((?:adamant|process|nodejs)_\w+)(?:\{([^}]*)\})?/g)]
    assert.ok(found.length > 0 || /\bup\b/.test(expression), `${who} queries no metric: ${expression}`)
    for (const [, name = '', selected = ''] of found) {
      const labels = printed.get(name)
      assert.ok(labels, `${who} queries ${name}, which is not exported`)
      for (const [, label = ''] of selected.matchAll(/(\w+) *[=!]/g)) {
        assert.ok(label === 'instance' || label in labels, `${who} queries label ${label}, which ${name} does not have`)
      }
    }
    for (const [, grouped = ''] of expression.matchAll(/\bby \(([^)]*)\)/g)) {
      const names = expression.match(NAMES) ?? []
      for (const label of grouped.split(/, */).filter((one) => one !== 'instance' && one !== 'le')) {
        const has = names.some((name) => label in (printed.get(name) ?? {}))
        assert.ok(has, `${who} groups by ${label}, which ${names.join(' and ')} do not have`)
      }
    }
  }
})

test('have texts with existing labels, and an instruction', () => {
  for (const { alert, expr, annotations } of rules) {
    assert.match(alert, /^Adamant[A-Z]\w+$/)
    assert.ok(annotations.do.length > 10, alert)
    for (const [, label = ''] of annotations.summary.matchAll(/\$labels\.(\w+)/g)) {
      const grouped = /\bby \(([^)]*)\)/.exec(expr)?.[1]
      if (grouped !== undefined) assert.ok(grouped.split(/, */).includes(label), `${alert} names ${label}`)
    }
  }
})

test('are all covered by the test of the rules', () => {
  const tried = readFileSync(`${folder}${TESTS}`, 'utf8')
  for (const { alert } of rules) assert.match(tried, `alertname="${alert}"`)
})

const promtool = process.env['PROMTOOL'] ?? 'promtool'
const hasPromtool = spawnSync(promtool, ['--version']).status === 0
if (!hasPromtool)
  console.log('NOTE: alerts are not tested: promtool is not installed (Debian package `prometheus`, or set PROMTOOL)')

/** Runs promtool if it is installed. */
function checkWithPromtool(...words: string[]): void {
  if (!hasPromtool) return
  const { status, stdout, stderr } = spawnSync(promtool, words, { cwd: folder, encoding: 'utf8' })
  assert.is(status, 0, `${stdout}${stderr}`)
}

test('are valid Prometheus rules and fire when expected', () => {
  checkWithPromtool('check', 'rules', RULES)
  checkWithPromtool('test', 'rules', TESTS)
})

test('use metrics that pass promtool check metrics', async ({ service }) => {
  if (!hasPromtool) return
  const { text } = await readMetrics(service)
  const { status, stdout, stderr } = spawnSync(promtool, ['check', 'metrics'], { input: text, encoding: 'utf8' })
  assert.equal([status, stdout, stderr], [0, '', ''])
})

test.run()
