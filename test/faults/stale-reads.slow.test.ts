import { accountFold, accountStream, disable } from '../../src/domain/account/account.ts'
import { randomBytes, randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { handle } from '../../src/commands/core/handle.ts'
import { attached } from '../api/harness/form.ts'
import { expect, refusal, type ApiResponse } from '../api/harness/request.ts'
import { GENEROUS_TIMEOUT_MS, startService, type Overrides, type Service } from '../api/harness/service.ts'
import { created, shown, stone, unsigned } from '../api/harness/stones.ts'
import { startPeer, type Peer } from '../eventstoredb/peer/peer.ts'
import { until } from '../until.ts'

const test = suite('a service whose event log is unavailable')

const origin = { actor: 'operator', via: 'cli', correlation: 'test' } as const

/** Seconds after which the session feed counts as unconfirmed, plus one. */
const UNCONFIRMED = 6

/** The cases mostly wait, so they run concurrently, each with its own service and log. */
const cases: Record<string, () => Promise<void>> = {}
const running = new Map<string, Promise<unknown>>()
const concurrently = (name: string, run: () => Promise<void>) => void (cases[name] = run)
const settled = (start: () => Promise<void>): Promise<unknown> =>
  start().then(
    () => undefined,
    (fault: unknown) => fault,
  )

async function withService(
  { settings, ...overrides }: Overrides,
  run: (service: Service, peer: Peer) => Promise<void>,
): Promise<void> {
  const peer = await startPeer()
  const engines = { EVENT_STORE: peer.url, READ_MODEL: 'sqlite', MASTER_KEY: randomBytes(32).toString('base64') }
  try {
    const service = await startService({ ...overrides, settings: { ...engines, ...settings } })
    try {
      await run(service, peer)
    } finally {
      await service.stop()
    }
  } finally {
    await peer.stop()
  }
}

/** Disables an account's tokens, as the command line does. */
async function disableTokens({ installation }: Service, account: number): Promise<void> {
  const target = { stream: accountStream(account), id: randomUUID(), origin }
  await handle(installation.context, target, accountFold, (state) => disable(state, { apiTokens: 'ended' }))
}

const ageOf = ({ headers }: ApiResponse) => Number(headers['age'])

/** Asserts a stale response: 200 with X-Consistency and an Age of at least `least` seconds. */
function assertStale(response: ApiResponse, least = 0): ApiResponse {
  expect(200, response)
  assert.is(response.headers['x-consistency'], 'stale')
  assert.match(String(response.headers['age']), /^\d+$/)
  assert.ok(ageOf(response) >= least, `Age: ${response.headers['age']}`)
  return response
}

function writes({ ann }: Service, id: number): Promise<ApiResponse>[] {
  return [
    ann.post('/v4/diamond', stone()),
    ann.post('/v4/diamond', stone(), { 'Idempotency-Key': 'k' }),
    ann.post('/v4/diamond/bulk', { entries: [stone(), stone()] }),
    ann.patch(`/v4/diamond/${id}`, { price: 2 }),
    ann.remove(`/v4/diamond/${id}`),
  ]
}

const outages: [what: string, begin: (peer: Peer) => unknown, end: (peer: Peer) => unknown][] = [
  ['is stopped', (peer) => peer.down(), (peer) => peer.up()],
  ['hangs', (peer) => (peer.faults.silent = true), (peer) => (peer.faults.silent = false)],
]
for (const [description, begin, end] of outages) {
  concurrently(
    `(it ${description}) serves stale reads, rejects writes, and works normally when the log is available again`,
    () =>
      withService({}, async (service, peer) => {
        const { ann, bob } = service
        const { id } = await created(ann, { sku: 'S', access: 2 })
        await attached(ann, id)
        const before = unsigned(expect(200, await ann.get(`/v4/diamond/${id}`)))
        const revoked = await service.newVendor()
        await disableTokens(service, revoked.account)
        await until('the end of a token', async () => (await revoked.get('/v4/diamond')).status === 401)
        await begin(peer)

        const first = await Promise.all([...writes(service, id), ann.get(`/v4/diamond/${id}`), ann.get('/v4/diamond')])
        for (const response of first.slice(0, -2)) refusal(503, response)
        for (const response of first.slice(-2)) assertStale(response)

        // From now on, the session feed counts as unconfirmed.
        await until('an older response', async () => ageOf(await ann.get(`/v4/diamond/${id}`)) >= UNCONFIRMED)
        for (const response of await Promise.all(writes(service, id))) {
          refusal(503, response)
          assert.ok(Number(response.headers['retry-after']) > 0)
        }
        const one = assertStale(await ann.get(`/v4/diamond/${id}`), 4)
        assert.equal(unsigned(one), before)
        assert.is(one.headers['etag'], `"1.0"`)
        assertStale(await ann.get(`/v3/diamond/${id}`))
        assert.equal(unsigned(assertStale(await ann.get('/v4/diamond'), 4)), [before])
        assertStale(await ann.get('/v4/diamond?f[sku]=S'))
        assertStale(await service.send({ path: `/diamond/${id}` }), 4)
        expect(200, await service.send({ path: '/v2/constants' }))
        refusal(403, await bob.get(`/v4/diamond/${id}`))
        const unknown = await ann.get('/v4/diamond/999999')
        refusal(404, unknown)
        assert.is(unknown.headers['x-consistency'], 'stale')
        refusal(401, await revoked.get('/v4/diamond'))
        assert.is((await service.send({ path: '/health/ready' })).status, 503)
        const metrics = expect(200, await service.send({ path: '/metrics' }))
        assert.match(metrics.text, /^adamant_log_away 1$/m)
        assert.is(isClosedIn(metrics.text), '0')

        await end(peer)
        await until('a write', async () => (await ann.patch(`/v4/diamond/${id}`, { price: 7 })).status === 200)
        const now = expect(200, await ann.get(`/v4/diamond/${id}`))
        assert.equal([shown(now)['price'], now.headers['x-consistency'], now.headers['age']], [7, undefined, undefined])
        expect(401, await revoked.get('/v4/diamond'))
        await until('ready', async () => (await service.send({ path: '/health/ready' })).status === 200)
        assert.is(isClosedIn(expect(200, await service.send({ path: '/metrics' })).text), '1')
      }),
  )
}

/** The state `closed` in the metrics of the circuit breaker for all calls of the log. */
const isClosedIn = (metrics: string): string | undefined =>
  /^adamant_circuit_breaker_state\{engine="EventStoreDB",calls="all",state="closed"\} (\d)$/m.exec(metrics)?.[1]

concurrently('serves stale reads for at most STALE_READS seconds', () =>
  withService({ settings: { STALE_READS: '10' } }, async (service, peer) => {
    const { id } = await created(service.ann, { access: 2 })
    await peer.down()
    assertStale(await service.ann.get(`/v4/diamond/${id}`))
    // The page without authentication is refused later, because the session feed was confirmed earlier than the log.
    for (const path of [`/v4/diamond/${id}`, '/v4/diamond', `/diamond/${id}`])
      await until(`a refusal of ${path}`, async () => (await service.ann.get(path)).status === 503)
    expect(200, await service.ann.get('/v2/constants'))
    await peer.up()
    await until('a read', async () => (await service.ann.get(`/v4/diamond/${id}`)).status === 200)
  }),
)

concurrently('rejects reads with STALE_READS=0', () =>
  withService({ settings: { STALE_READS: '0' } }, async (service, peer) => {
    const { id } = await created(service.ann)
    await peer.down()
    for (const path of [`/v4/diamond/${id}`, '/v4/diamond']) refusal(503, await service.ann.get(path))
  }),
)

concurrently('serves no stale read if only its connections were lost', () =>
  withService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS }, async (service, peer) => {
    const { id } = await created(service.ann)
    for (let time = 0; time < 5; time++) {
      peer.drop()
      const response = expect(200, await service.ann.get(`/v4/diamond/${id}`))
      assert.is(response.headers['x-consistency'], undefined)
    }
  }),
)

concurrently('rejects writes if its log serves only reads', () =>
  withService({}, async (service, peer) => {
    const { id } = await created(service.ann)
    peer.faults.appends.push(...Array.from({ length: 1_000 }, () => 'silent, lost' as const))
    for (const response of await Promise.all(writes(service, id))) {
      refusal(503, response)
    }
    assert.is((await service.ann.get(`/v4/diamond/${id}`)).headers['x-consistency'], undefined)
  }),
)

for (const name of Object.keys(cases)) {
  test(name, async () => {
    if (running.size === 0) for (const [each, start] of Object.entries(cases)) running.set(each, settled(start))
    const fault = await running.get(name)
    if (fault !== undefined) throw fault
  })
}

test.run()
