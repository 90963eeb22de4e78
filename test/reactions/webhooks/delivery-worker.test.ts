import { accountFold, accountStream, disable, enable, register } from '../../../src/domain/account/account.ts'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { randomBytes } from 'node:crypto'
import { handle } from '../../../src/commands/core/handle.ts'
import { createCommandContext, type CommandContext } from '../../../src/commands/core/command-context.ts'
import {
  changeWebhook,
  createWebhook,
  webhooksOf,
  type WebhookCommandContext,
} from '../../../src/commands/webhooks/webhooks.ts'
import type { MasterKey } from '../../../src/credentials/master-keys.ts'
import { WebhookSecrets } from '../../../src/credentials/webhook-secrets.ts'
import type { Webhook } from '../../../src/domain/webhook/webhook.ts'
import { openDeliveryAttempts, WebhookProgressStore } from '../../../src/projections/webhooks/webhooks.ts'
import {
  DeliveryWorker,
  DeliveryBulkhead,
  type DeliveryWorkerTools,
  type PushFeed,
} from '../../../src/reactions/webhooks/delivery-worker.ts'
import type { DeliveryOutcome } from '../../../src/reactions/webhooks/webhook-sender.ts'
import { withStores, type Stores } from '../../open-stores.ts'

const test = suite('the deliveries of a webhook')

const HOUR = 3_600_000
const DAY = 24 * HOUR
const START = Date.parse('2026-11-22T12:00:00Z')
const OWNER = 7
const RULES = { http: false, private: false }
const origin = { actor: 'account-7', via: 'http', correlation: 'test' } as const
const key = (id: string): MasterKey => ({ id: id.repeat(16), bytes: randomBytes(32) })
const KEYS = { current: key('a'), old: undefined }

const accepted: DeliveryOutcome = { status: 204, ms: 3, error: null }
const failed = (status: number | null): DeliveryOutcome => ({ status, ms: 3, error: `Responded with ${status}` })

/** A webhook with its stores and its clock, which only `sleep` advances. */
type WebhookScenario = {
  readonly stores: Stores
  readonly context: CommandContext
  readonly webhookContext: WebhookCommandContext
  readonly webhook: Webhook
  /** Number of changes in the feed: cursors 0-1, 0-2 and so on. */
  changes: number
  now: number
  /** The received requests, of all URLs; `at` in ms since the start. */
  readonly received: {
    readonly id: string
    readonly url: string
    readonly at: number
    readonly headers: Readonly<Record<string, string>>
  }[]
  respond: (tries: number) => DeliveryOutcome
  tools(secrets?: WebhookSecrets): DeliveryWorkerTools
  shown(): Promise<Webhook>
  /** Runs a worker until everything is sent, it ends, or the given time (ms) has passed. */
  run(durationMs?: number, tools?: DeliveryWorkerTools): Promise<void>
}

const numberOf = (cursor: string) => Number(cursor.split('-')[1])

async function withWebhook(run: (scenario: WebhookScenario) => Promise<void>): Promise<void> {
  await withStores(async (stores) => {
    const scenario = {
      stores,
      changes: 0,
      now: START,
      received: [],
      respond: () => accepted,
    } as unknown as WebhookScenario
    const context = createCommandContext(stores.store, () => scenario.now)
    const secrets = new WebhookSecrets(KEYS)
    const account = { email: 'a@example.com', password: 'x', plan: 'basic' } as const
    await handle(context, { stream: accountStream(OWNER), origin }, accountFold, (state) => register(state, account))
    const webhookContext = {
      ...context,
      webhookIds: { take: async () => 1 },
      secrets,
      rules: RULES,
      feedEnd: async () => '0-0',
    }
    const made = await createWebhook(webhookContext, OWNER, { url: 'https://example.com/', description: null }, origin)
    const progresses = new WebhookProgressStore(stores.reads, stores.store)
    await progresses.open()
    const feed: PushFeed = {
      after: async (_owner, cursor, limit) => {
        const from = numberOf(cursor)
        const count = Math.min(limit, scenario.changes - from)
        const changes = Array.from({ length: count }, (_, at) => `0-${from + at + 1}`)
        const shown = changes.map((one) => ({
          cursor: one,
          diamond: 7,
          what: ['fields'] as const,
          text: `{"cursor":"${one}"}`,
        }))
        return { changes: shown, next: changes.at(-1) ?? cursor }
      },
      waitForChanges: () => Promise.reject(new Error('unset')),
    }
    const send: DeliveryWorkerTools['send'] = async (url, { headers }) => {
      scenario.received.push({ id: String(headers['webhook-id']), url, at: scenario.now - START, headers })
      return scenario.respond(scenario.received.length)
    }
    Object.assign(scenario, {
      context,
      webhookContext,
      webhook: made.webhook,
      tools: (own = secrets): DeliveryWorkerTools => ({
        context,
        secrets: own,
        feed,
        progressStore: progresses,
        bulkhead: new DeliveryBulkhead(),
        send,
        onAttempt: () => undefined,
        sleep: async (ms) => void (scenario.now += ms),
      }),
      shown: async () => (await webhooksOf(stores.store, OWNER))[0],
      async run(until = Number.POSITIVE_INFINITY, tools = scenario.tools()) {
        const end = scenario.now + until
        const stop = new AbortController()
        const sleep = async (ms: number) => {
          scenario.now += ms
          if (scenario.now >= end) stop.abort()
        }
        const idle: PushFeed = { ...feed, waitForChanges: async () => stop.abort() }
        await new DeliveryWorker({ owner: OWNER, id: 1 }, { ...tools, sleep, feed: idle }).run(stop.signal)
      },
    })
    await run(scenario)
  })
}

const ids = ({ received }: WebhookScenario) => received.map(({ id }) => id)

test('are sent in cursor order, each once if it is accepted', () =>
  withWebhook(async (scenario) => {
    scenario.changes = 50
    await scenario.run()
    assert.equal(
      ids(scenario),
      Array.from({ length: 50 }, (_, at) => `msg_1_0-${at + 1}`),
    )
    scenario.changes = 51
    await scenario.run()
    assert.is(scenario.received.length, 51)
  }))

test('are retried after 5 s, 30 s, 2 min, 10 min, 1 h, then every 6 h, with the same id and before any later one', () =>
  withWebhook(async (scenario) => {
    scenario.changes = 3
    scenario.respond = (tries) => (tries <= 8 ? failed(500) : accepted)
    await scenario.run()
    const pauses = scenario.received
      .slice(1, 9)
      .map(({ at }, index) => (at - (scenario.received[index]?.at ?? 0)) / 1000)
    assert.equal(pauses, [5, 30, 120, 600, 3_600, 21_600, 21_600, 21_600])
    assert.equal(new Set(ids(scenario).slice(0, 9)).size, 1)
    assert.equal(ids(scenario).slice(9), ['msg_1_0-2', 'msg_1_0-3'])
    assert.is((await scenario.shown()).state, 'active')
  }))

test('are failing after three days, are paused by the next failure, and resume when the owner reactivates them', () =>
  withWebhook(async (scenario) => {
    scenario.changes = 5
    scenario.respond = (tries) => (tries <= 2 ? accepted : failed(503))
    await scenario.run(DAY * 3 - HOUR)
    assert.is((await scenario.shown()).state, 'active')
    await scenario.run(HOUR * 6)
    const failing = await scenario.shown()
    assert.is(failing.state, 'failing')
    assert.is(failing.error, 'Responded with 503')
    await scenario.run()
    const paused = await scenario.shown()
    assert.is(paused.state, 'paused')
    assert.is(paused.cursor, '0-2')
    const tries = scenario.received.length
    await scenario.run()
    assert.is(scenario.received.length, tries, 'a paused webhook receives nothing')
    scenario.respond = () => accepted
    scenario.changes = 6
    await changeWebhook(scenario.webhookContext, { owner: OWNER, id: 1 }, { state: 'active' }, origin)
    const at = scenario.now - START
    await scenario.run()
    assert.equal(ids(scenario).slice(tries), ['msg_1_0-3', 'msg_1_0-4', 'msg_1_0-5', 'msg_1_0-6'])
    assert.is(scenario.received[tries]?.at, at, 'it does not wait for the next retry')
    assert.is((await scenario.shown()).state, 'active')
  }))

test('are active again as soon as one is accepted', () =>
  withWebhook(async (scenario) => {
    scenario.changes = 1
    scenario.respond = () => failed(500)
    while ((await scenario.shown()).state === 'active') await scenario.run(HOUR)
    assert.is((await scenario.shown()).state, 'failing')
    scenario.respond = () => accepted
    await scenario.run()
    const { state, error, cursor } = await scenario.shown()
    assert.equal({ state, error, cursor }, { state: 'active', error: null, cursor: '0-1' })
  }))

test('are paused at once by a 410 response', () =>
  withWebhook(async (scenario) => {
    scenario.changes = 2
    scenario.respond = () => failed(410)
    await scenario.run()
    assert.is(scenario.received.length, 1)
    const { state, error } = await scenario.shown()
    assert.equal({ state, error }, { state: 'paused', error: 'Responded with 410' })
  }))

test('go to a new URL at once, without the back-off of the old one', () =>
  withWebhook(async (scenario) => {
    scenario.changes = 1
    scenario.respond = (tries) => (tries <= 5 ? failed(500) : accepted)
    await scenario.run(600_000)
    const tries = scenario.received.length
    await changeWebhook(scenario.webhookContext, { owner: OWNER, id: 1 }, { url: 'https://other.example/' }, origin)
    const at = scenario.now - START
    await scenario.run(1)
    assert.is(scenario.received[tries]?.url, 'https://other.example/')
    assert.is(scenario.received[tries]?.at, at)
  }))

test('stop while the account is disabled', () =>
  withWebhook(async (scenario) => {
    const change = (decide: typeof enable) =>
      handle(scenario.context, { stream: accountStream(OWNER), origin }, accountFold, decide)
    await change((state) => disable(state, { apiTokens: 'ended' }))
    scenario.changes = 1
    await scenario.run()
    assert.is(scenario.received.length, 0)
    await change(enable)
    await scenario.run()
    assert.is(scenario.received.length, 1)
  }))

test('are listed newest first, at most 100', () =>
  withWebhook(async (scenario) => {
    scenario.changes = 130
    scenario.respond = (tries) => (tries === 120 ? failed(500) : accepted)
    await scenario.run()
    const deliveries = await (await openDeliveryAttempts(scenario.stores.reads))(1)
    assert.is(deliveries.length, 100)
    assert.is(deliveries[0]?.cursor, '0-130')
    const fault = deliveries.filter(({ error }) => error !== null)
    assert.equal(
      fault.map(({ cursor, status }) => ({ cursor, status })),
      [{ cursor: '0-120', status: 500 }],
    )
  }))

test('record their cursor in the log once an hour, so that losing the read store repeats at most an hour', () =>
  withWebhook(async (scenario) => {
    const revisions = async () => (await scenario.stores.store.readStream('webhooks-7')).length
    const before = await revisions()
    scenario.changes = 30
    await scenario.run()
    assert.is(await revisions(), before)
    scenario.now += HOUR
    scenario.changes = 60
    await scenario.run()
    assert.is(await revisions(), before + 1)
    assert.ok(numberOf((await scenario.shown()).cursor) > 30)
  }))

test('resume from the cursor in the log if the read store was lost', () =>
  withWebhook(async (scenario) => {
    scenario.changes = 10
    await scenario.run()
    scenario.now += HOUR
    scenario.changes = 11
    await scenario.run()
    scenario.changes = 14
    await scenario.run()
    const lost = new WebhookProgressStore(scenario.stores.reads, scenario.stores.store)
    await lost.open()
    await lost.delete(1)
    scenario.changes = 15
    const before = scenario.received.length
    await scenario.run()
    const numbers = ids(scenario).map((id) => numberOf(id.slice('msg_1_'.length)))
    assert.equal(numbers.slice(before), [12, 13, 14, 15])
  }))

test('repeat at most the one in flight after a crash', () =>
  withWebhook(async (scenario) => {
    scenario.changes = 10
    const tools = scenario.tools()
    const killed = {
      ...tools,
      send: async (...given: Parameters<DeliveryWorkerTools['send']>) => {
        const outcome = await tools.send(...given)
        if (scenario.received.length === 4) throw new Error('killed')
        return outcome
      },
    }
    await scenario.run(HOUR, killed).then(
      () => assert.unreachable('it did not throw'),
      () => undefined,
    )
    await scenario.run()
    const numbers = ids(scenario).map((id) => numberOf(id.slice('msg_1_'.length)))
    assert.equal(numbers, [1, 2, 3, 4, 4, 5, 6, 7, 8, 9, 10])
  }))

test('are signed after a rotation of the master key, then without the old key', () =>
  withWebhook(async (scenario) => {
    scenario.changes = 1
    const rotated = { current: key('b'), old: KEYS.current }
    await scenario.run(HOUR, scenario.tools(new WebhookSecrets(rotated)))
    const later = { current: rotated.current, old: undefined }
    scenario.changes = 2
    await scenario.run(HOUR, scenario.tools(new WebhookSecrets(later)))
    assert.is(scenario.received.length, 2)
  }))

test.run()
