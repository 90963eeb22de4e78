import { readFileSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { readSettings, type Settings } from '../../src/wiring/settings.ts'
import { openInstallation } from '../../src/wiring/open-installation.ts'
import { startService as start } from '../../src/wiring/service.ts'
import { servicesInFolder } from './harness/folder.ts'
import { StoreUnavailable } from '../../src/stores/ports/event-store.ts'
import { expect, refusal, request } from './harness/request.ts'
import { GENEROUS_TIMEOUT_MS, startService } from './harness/service.ts'
import { until } from '../until.ts'

const test = suite('metrics')

const samples = /^adamant_log_head \d+$/m
const path = '/metrics'

for (const TRUST_PROXY of ['0', '1', '2']) {
  test(`are available to local clients and not through a local proxy, with TRUST_PROXY=${TRUST_PROXY}`, async () => {
    const service = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS, settings: { TRUST_PROXY } })
    try {
      assert.match(expect(200, await service.send({ path })).text, samples)
      for (const from of ['203.0.113.9', '127.0.0.1, 203.0.113.9', '203.0.113.9, 127.0.0.1', '2001:db8::1', 'x']) {
        refusal(403, await service.send({ path, headers: { 'X-Forwarded-For': from } }))
      }
      refusal(403, await service.send({ path, headers: { Forwarded: 'for=203.0.113.9' } }))
      refusal(403, await service.send({ method: 'GET', path: '//metrics/', headers: { 'X-Real-IP': '203.0.113.9' } }))
      expect(200, await service.send({ path, headers: { 'X-Forwarded-For': '10.0.0.7' } }))
    } finally {
      await service.stop()
    }
  })
}

test('are all present from the start, at 0', async () => {
  const service = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS })
  try {
    const { text } = expect(200, await service.send({ path }))
    const documented = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8')
    const names = [...documented.matchAll(/^\| `(adamant_\w+)`/gm)].map(([, name = '']) => name)
    assert.ok(names.length > 20)
    for (const name of names) assert.match(text, new RegExp(`^# TYPE ${name} `, 'm'))
    for (const line of [
      'adamant_http_request_duration_seconds_count{endpoint="removeDiamond",method="DELETE",status="204"} 0',
      'adamant_commands_total{subject="diamond",outcome="conflict"} 0',
      'adamant_command_retries_total{subject="secret",reason="conflict"} 0',
      'adamant_webhook_deliveries_total{outcome="failed"} 0',
      'adamant_mails_total{outcome="refused"} 0',
      'adamant_reports_contradicting_total 0',
    ])
      assert.ok(text.includes(`${line}\n`), line)
    assert.match(
      text,
      /^adamant_store_failures_total\{store="vault",engine="[^"]+",operation="put",error="StoreUnavailable"\} 0$/m,
    )
  } finally {
    await service.stop()
  }
})

test('count each request under its endpoint, with one TYPE line for each name', async () => {
  const service = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS })
  try {
    expect(200, await service.ann.get('/v2/constants'))
    expect(404, await service.ann.get('/v4/diamond/4242424242'))
    expect(404, await service.send({ path: '/no/such/thing' }))
    const { text } = expect(200, await service.send({ path }))
    const counted = (endpoint: string, status: number) =>
      text.includes(
        `adamant_http_request_duration_seconds_count{endpoint="${endpoint}",method="GET",status="${status}"} 1\n`,
      )
    assert.ok(counted('readConstants', 200), text)
    assert.ok(counted('readDiamond', 404), text)
    assert.ok(counted('none', 404), text)
    assert.not(text.includes('4242424242') || text.includes('no/such'), 'no path')
    const heads = [...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name)
    assert.is(new Set(heads).size, heads.length)
    assert.match(text, /^adamant_event_loop_delay_seconds\{quantile="0.99"\} [\d.e-]+$/m)
  } finally {
    await service.stop()
  }
})

test('lack only what the log would tell while it is unavailable', async () => {
  let isAway = false
  const service = await startService({
    readModelTimeoutMs: GENEROUS_TIMEOUT_MS,
    store: (store) => ({
      ...store,
      head() {
        if (isAway) throw new StoreUnavailable('away')
        return store.head()
      },
    }),
  })
  try {
    isAway = true
    const { text } = expect(200, await service.send({ path }))
    assert.match(text, /^adamant_log_away 1$/m)
    assert.not.match(text, samples)
    assert.not.match(text, /^adamant_\w+_lag(\{.*\})? \d/m)
    assert.match(text, /^adamant_follower_position\{follower="diamonds"\} \d+$/m)
    assert.match(text, /^adamant_vault_secrets \d+$/m)
    isAway = false
    // The circuit breaker may have opened meanwhile, and closes with its next probe.
    await until('samples of the log', async () => samples.test(expect(200, await service.send({ path })).text))
  } finally {
    await service.stop()
  }
})

test('are served only on METRICS_PORT if it is set', async () => {
  const service = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS, settings: { METRICS_PORT: '0' } })
  try {
    expect(404, await service.send({ path }))
    const address = service.metrics ?? ''
    assert.match(expect(200, await request(address, { path })).text, samples)
    expect(200, await request(address, { path, headers: { 'X-Forwarded-For': '203.0.113.9' } }))
    for (const health of ['/health/live', '/health/ready']) expect(200, await request(address, { path: health }))
    for (const other of ['/v4/diamond', '/v2/constants', '/']) {
      expect(404, await request(address, { path: other }))
    }
    expect(405, await request(address, { method: 'POST', path }))
  } finally {
    await service.stop()
  }
})

test('are served by a process that only projects', () =>
  servicesInFolder(async (_start, DATA_DIR) => {
    const settings: Settings = readSettings({
      DATA_DIR,
      ROLES: 'projections',
      METRICS_PORT: '0',
      PORT: '0',
      LOG_LEVEL: 'silent',
    })
    const running = await start(await openInstallation(settings))
    try {
      assert.is(running.url, undefined)
      expect(200, await request(running.metrics ?? '', { path: '/health/live' }))
      await until(
        'readiness',
        async () => (await request(running.metrics ?? '', { path: '/health/ready' })).status === 200,
      )
      assert.match(expect(200, await request(running.metrics ?? '', { path })).text, samples)
    } finally {
      await running.stop()
    }
    // The client may first try a kept-alive connection whose end it has not noticed yet.
    const codeOf = ({ cause }: Error) => (cause as NodeJS.ErrnoException).code
    const refused = await request(running.metrics ?? '', { path }).catch(codeOf)
    assert.ok(refused === 'ECONNREFUSED' || refused === 'ECONNRESET', String(refused))
  }))

test.run()
