import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import type { Vendor } from '../../api/harness/account.ts'
import { attached } from '../../api/harness/form.ts'
import { expect, request } from '../../api/harness/request.ts'
import type { Service } from '../../api/harness/service.ts'
import { created, stone } from '../../api/harness/stones.ts'
import { startPeer } from '../../eventstoredb/peer/peer.ts'
import { randomFor, type SeededRandom } from '../../seeded.ts'
import { until } from '../../until.ts'
import { installationSuite, type TemporaryInstallation } from '../backup/temporary-installation.ts'
import { formatPosition } from '../../../src/stores/ports/event-store.ts'

const test = installationSuite('a replay')

/** Steps of the workload, and how many of them are replayed. */
const [STEPS, MOMENTS] = process.env['ADAMANT_FULL'] ? [150, 50] : [20, 2]

/** The responses at a moment, which a replay names by time or by position. */
type Moment = { readonly time: string; readonly position: string; readonly responses: Record<string, string> }

/** The system clock until `pass` is called first; afterwards it only advances by `pass`, so that all steps differ in time. */
class TestClock {
  #milliseconds: number | undefined
  readonly now = () => this.#milliseconds ?? Date.now()

  advance(milliseconds: number): void {
    this.#milliseconds = this.now() + milliseconds
  }
}

const pathsOf = (ids: readonly number[]) => [
  '/v4/diamond?limit=1000',
  '/v3/diamond?limit=1000',
  ...ids.flatMap((id) => [`/v4/diamond/${id}`, `/v4/diamond/${id}/history`]),
]

/** Status and body by path: without the base URL, and without the bodies of errors, which contain the request id. */
async function responsesOf(url: string, token: string, ids: readonly number[]): Promise<Record<string, string>> {
  const responses: Record<string, string> = {}
  for (const path of pathsOf(ids)) {
    const { status, text } = await request(url, { path, headers: { authorization: `Bearer ${token}` } })
    responses[path] = status === 200 ? `200 ${text.replaceAll(url, '')}` : `${status}`
  }
  return responses
}

/** Creates, changes and deletes stones at random, and records the responses after each step. */
async function recordMoments({ ann, url, installation: { store } }: Service, clock: TestClock): Promise<Moment[]> {
  const random = randomFor('a workload to replay')
  const ids: number[] = []
  const moments: Moment[] = []
  for (let step = 0; step < STEPS; step++) {
    clock.advance(2)
    await runStep(ann, ids, random, step)
    const head = await store.head()
    if (head === 'start') throw new Error('the log is empty')
    const time = new Date(clock.now() + 1).toISOString()
    moments.push({ time, position: formatPosition(head), responses: await responsesOf(url, ann.token, ids) })
  }
  return moments
}

async function runStep(ann: Vendor, ids: number[], random: SeededRandom, step: number): Promise<void> {
  const id = random.pick(ids)
  const kind = random.below(6)
  if (id === undefined || kind < 2) return void ids.push((await created(ann, { sku: `S-${step}` })).id)
  if (kind === 5) await ann.remove(`/v4/diamond/${id}`)
  else await ann.patch(`/v4/diamond/${id}`, { price: step + 1 })
}

/** Serves a folder with --read-only while `look` runs. */
async function withReadOnlyServer(
  installation: TemporaryInstallation,
  dataDir: string,
  settings: Record<string, string>,
  action: (url: string) => Promise<void>,
): Promise<void> {
  const server = installation.commands.start(['serve', '--json', '--read-only'], { ...settings, DATA_DIR: dataDir })
  const { url } = JSON.parse(await server.line()) as { url: string }
  await action(url)
  server.kill('SIGTERM')
  const { code, err } = await server.ended
  assert.is(code, 0, err)
}

async function assertReplaysMoments(
  installation: TemporaryInstallation,
  source: Record<string, string>,
): Promise<void> {
  const clock = new TestClock()
  const service = await installation.serve(undefined, source, clock.now)
  const moments = await recordMoments(service, clock)
  await until('the last moment to be in the past', () => new Date() > new Date(clock.now() + 1))
  const { MASTER_KEY } = source
  const key = MASTER_KEY === undefined ? undefined : { MASTER_KEY }
  const random = randomFor('moments to replay')
  for (let round = 0; round < MOMENTS; round++) {
    const moment = random.pick(moments)
    if (moment === undefined) throw new Error('no moment')
    const named = round % 2 === 0 ? moment.time : moment.position
    const into = installation.pathOf(`then-${round}`)
    const replayed = await installation.json(['replay', '--until', named, '--into', into], source)
    assert.is(replayed['position'], moment.position)
    const ids = Object.keys(moment.responses).flatMap((path) => /^\/v4\/diamond\/(\d+)$/.exec(path)?.[1] ?? [])
    await withReadOnlyServer(installation, into, key ?? {}, async (url) => {
      assert.equal(await responsesOf(url, service.ann.token, ids.map(Number)), moment.responses, named)
    })
  }
}

test('gives the responses that the service gave at that moment', ({ installation }) =>
  assertReplaysMoments(installation, {}))

test('of a log on EventStoreDB gives the same responses', async ({ installation }) => {
  const peer = await startPeer()
  try {
    await assertReplaysMoments(installation, { EVENT_STORE: peer.url, MASTER_KEY: randomBytes(32).toString('base64') })
  } finally {
    await peer.stop()
  }
})

test('serves the files of its time, accepts no writes, and leaves its log unchanged', async ({ installation }) => {
  const service = await installation.serve()
  const { id } = await created(service.ann, { sku: 'THEN' })
  const { file } = await attached(service.ann, id)
  const into = installation.pathOf('then')
  const { position } = await installation.json(['replay', '--until', new Date().toISOString(), '--into', into])
  const log = () => readFileSync(join(into, 'events.db'))
  const before = log()
  const headers = { authorization: `Bearer ${service.ann.token}` }
  await withReadOnlyServer(installation, into, {}, async (url) => {
    expect(200, await request(url, { path: '/health/ready' }))
    const refused = await request(url, { method: 'POST', path: '/v4/diamond', headers, json: stone() })
    assert.match(expect(503, refused).text, /accepts no writes: it .* is a copy/)
    assert.match(expect(200, await request(url, { path: '/metrics' })).text, /^adamant_moved 0$/m)
    expect(503, await request(url, { method: 'DELETE', path: `/v4/diamond/${id}`, headers }))
    expect(200, await request(url, { path: `/v4/diamond/${id}`, headers }))
    expect(200, await request(url, { path: new URL(file ?? '').pathname + new URL(file ?? '').search }))
  })
  assert.ok(before.equals(log()), 'the log was changed')
  // A replay stays read-only without the option, and for other commands.
  const added = await installation.run(['user', 'add', 'new@example.com', '--password', 'right horse'], {
    DATA_DIR: into,
  })
  assert.is(added.code, 1)
  assert.match(added.err, /This is a replay of/)
  const moved = await installation.run([
    'move',
    '--yes',
    '--from',
    `sqlite:${into}`,
    '--to',
    `sqlite:${installation.pathOf('to')}`,
  ])
  assert.match(moved.err, /This is a replay of/)
  const moveResult = await installation.run([
    'move',
    '--yes',
    '--from',
    `sqlite:${installation.dataDir}`,
    '--to',
    `sqlite:${into}`,
  ])
  assert.match(moveResult.err, /The target is a replay: choose an empty target/)
  assert.ok(Number(position) > 0)
})

test('with an invalid moment or folder ends with 2 and a message', async ({ installation }) => {
  await created((await installation.serve()).ann)
  for (const [until, into, message] of [
    ['yesterday', installation.pathOf('a'), /It must be a time/],
    ['2999-01-01', installation.pathOf('b'), /must be in the past/],
    ['99999999', installation.pathOf('c'), /must be in the past/],
    ['1', join(installation.dataDir, 'then'), /is inside DATA_DIR/],
    ['1', installation.dataDir + '/..', /is not empty/],
  ] as const) {
    const { code, err } = await installation.run(['replay', '--until', until, '--into', into])
    assert.is(code, 2, err)
    assert.match(err, message)
  }
})

test('is not required for --read-only: a live installation can be served so, and its log stays unchanged', async ({
  installation,
}) => {
  const service = await installation.serve()
  const { id } = await created(service.ann)
  const { token } = service.ann
  await service.stop()
  const before = await installation.run(['events'])
  await withReadOnlyServer(installation, installation.dataDir, {}, async (url) => {
    const headers = { authorization: `Bearer ${token}` }
    expect(200, await request(url, { path: `/v4/diamond/${id}`, headers }))
    const refused = await request(url, { method: 'PATCH', path: `/v4/diamond/${id}`, headers, json: { price: 3 } })
    assert.match(expect(503, refused).text, /or was started read-only/)
  })
  assert.is((await installation.run(['events'])).out, before.out)
})

test.run()
