import { connect, type Socket } from 'node:net'
import * as assert from 'uvu/assert'
import { revokeToken } from '../../src/commands/sessions/token-introspection.ts'
import { AccessTokens } from '../../src/credentials/access-tokens.ts'
import type { Vendor } from './harness/account.ts'
import { readChanges, Consumer, inventoryOf, type FeedPage } from './harness/feed.ts'
import { expect, refusal } from './harness/request.ts'
import { isScored } from './harness/scored.ts'
import { apiSuite, GENEROUS_TIMEOUT_MS, startService, type Service } from './harness/service.ts'
import { created, createdMany, stone } from './harness/stones.ts'
import { randomFor, type SeededRandom } from '../seeded.ts'
import { until } from '../until.ts'

const test = apiSuite('the feed of changes')

const summaries = ({ changes }: FeedPage) => changes.map(({ sku, what }) => `${sku} ${what.join('+')}`)

test('lists each changed diamond once, with its body in the requested API version', async ({ service }) => {
  const ann = await service.newVendor()
  const a = await created(ann, { sku: 'A' })
  const b = await created(ann, { sku: 'B' })
  const { next } = await readChanges(ann)
  assert.is(next, '0-2')
  expect(200, await ann.patch(`/v4/diamond/${a.id}`, { price: 5 }))
  for (const version of ['v3', 'v4']) {
    const page = await readChanges(ann, '', version)
    assert.equal(summaries(page), ['B created', 'A created+fields'])
    for (const { id, diamond, cursor } of page.changes) {
      assert.equal(diamond, (await ann.get(`/${version}/diamond/${id}`)).json())
      assert.match(cursor, /^0-\d+$/)
    }
    assert.equal([page.next, page.more], ['0-3', false])
  }
  expect(204, await ann.remove(`/v4/diamond/${b.id}`))
  assert.equal((await readChanges(ann, `after=${next}`)).changes, [
    { ...(await readChanges(ann, `after=${next}&limit=1`)).changes[0] },
    { cursor: '0-4', id: b.id, sku: 'B', what: ['deleted'], diamond: null },
  ])
  assert.equal(
    summaries(await readChanges(ann)),
    ['A created+fields'],
    'a diamond that was created and deleted is omitted',
  )
  assert.equal(await readChanges(ann, 'after=now'), { changes: [], next: '0-4', more: false })
  assert.equal(await readChanges(await service.newVendor()), { changes: [], next: '0-0', more: false })
})

test('omits the diamonds of other accounts, requires a token and supports only GET', async ({ service }) => {
  const [ann, bob] = [await service.newVendor(), await service.newVendor()]
  await created(ann)
  assert.equal((await readChanges(bob)).changes, [])
  refusal(401, await service.send({ path: '/v4/diamond/changes' }))
  refusal(404, await ann.get('/v2/diamond/changes'))
  refusal(405, await ann.post('/v4/diamond/changes', stone()))
  const options = await ann.send({ method: 'OPTIONS', path: '/v4/diamond/changes' })
  assert.match(options.headers.allow ?? '', /\bGET\b/)
  const head = await ann.send({ method: 'HEAD', path: '/v4/diamond/changes?after=0-1&wait=60' })
  assert.equal([head.status, head.text], [200, ''])
})

for (const [query, status, message] of [
  ['after=x', 400, 'must be a cursor'],
  ['after=0-1&after=0-2', 400, 'must be given only once'],
  ['after=0-999', 400, 'is ahead of the latest change'],
  ['after=1-0', 400, 'is ahead of the latest change'],
  ['limit=x', 400, 'whole number'],
  ['limit=0', 422, 'from 1 to 1000'],
  ['limit=1001', 422, 'from 1 to 1000'],
  ['wait=61', 422, 'from 0 to 60'],
  ['wait=-1', 422, 'from 0 to 60'],
  ['afterr=0-1', 400, 'did you mean after'],
] as const) {
  test(`rejects ${query} with ${status}`, async ({ service }) => {
    const ann = await service.newVendor()
    assert.match(refusal(status, await ann.get(`/v4/diamond/changes?${query}`)).error.join(), message)
  })
}

test('waits for a change, and is empty if none arrives in time', async ({ service }) => {
  const ann = await service.newVendor()
  const waiting = readChanges(ann, 'after=0-0&wait=60')
  await created(ann, { sku: 'COMES' })
  assert.equal(summaries(await waiting), ['COMES created'])
  const nothing = await readChanges(ann, 'after=now&wait=1')
  assert.equal(nothing, { changes: [], next: '0-1', more: false })
})

/** Sends as many waiting requests as an account may have at a time. @returns them once all of them wait */
async function fillWaitingRequests(vendor: Vendor): Promise<Promise<FeedPage>[]> {
  const requests = Array.from({ length: 21 }, () => vendor.get('/v4/diamond/changes?after=0-0&wait=60'))
  const [refused, response] = await Promise.race(requests.map(async (each, index) => [index, await each] as const))
  assert.match(refusal(429, response).error.join(), 'Too many concurrent requests for changes')
  return requests.toSpliced(refused, 1).map(async (each) => expect(200, await each).json() as FeedPage)
}

test('answers all waiting requests of an account when a change arrives, while those of other accounts keep waiting', async ({
  service,
}) => {
  const [ann, bob] = [await service.newVendor(), await service.newVendor()]
  const others = readChanges(bob, 'after=0-0&wait=60')
  const waiting = await fillWaitingRequests(ann)
  await created(ann)
  // If every request waited for its full time, the earliest request would be answered first.
  const first = await Promise.race([others, Promise.all(waiting)])
  assert.ok(Array.isArray(first), 'requests without a change were answered first')
  assert.is(waiting.length, 20)
  for (const page of waiting) assert.equal(summaries(await page), ['SKU-1 created'])
  await created(bob)
  assert.equal(summaries(await others), ['SKU-1 created'])
  assert.equal((await readChanges(ann, 'after=now&wait=1')).changes, [])
})

/** Creates, changes or deletes random diamonds. */
async function makeRandomChange(vendor: Vendor, live: number[], random: SeededRandom): Promise<void> {
  const id = random.pick(live)
  const kind = random.pickWeighted({ create: 4, patch: 4, remove: 2 })
  if (id === undefined || kind === 'create') {
    const many = await createdMany(vendor, 1 + random.below(5), `R${random.below(1e6)}`)
    live.push(...many.map((one) => one.id))
  } else if (kind === 'patch') {
    await vendor.patch(`/v4/diamond/${id}`, { price: random.below(1000), carat: 1 + random.below(3) })
  } else {
    live.splice(live.indexOf(id), 1)
    await vendor.remove(`/v4/diamond/${id}`)
  }
}

test('gives a consumer the same inventory as the list, whether it follows continuously or starts from the beginning', async () => {
  const service = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS, scored: true })
  try {
    const ann = await service.newVendor()
    const follower = new Consumer()
    const live: number[] = []
    const random = randomFor('changes of an inventory')
    for (let round = 0; round < 12; round++) {
      await Promise.all([1, 2, 3].map(() => makeRandomChange(ann, live, random)))
      if (round % 3 === 0) await follower.catchUp(ann, 1 + random.below(4))
    }
    await until('all scores', async () => (await inventoryOf(ann)).every(isScored))
    await follower.catchUp(ann, 3)
    assert.equal(follower.inventory, await inventoryOf(ann))
    const fresh = new Consumer()
    await fresh.catchUp(ann)
    assert.equal(fresh.inventory, follower.inventory)
    assert.is(fresh.cursor, follower.cursor)
  } finally {
    await service.stop()
  }
})

type EventStream = { readonly text: () => string; readonly ended: Promise<void>; readonly socket: Socket }

/** Opens a stream of server-sent events over a separate connection. */
function openStream(
  { url }: Service,
  token: string,
  path = '/v4/diamond/changes',
  headers: string[] = [],
): EventStream {
  const { hostname, port } = new URL(url)
  let text = ''
  const socket = connect(Number(port), hostname, () => {
    const lines = [`GET ${path} HTTP/1.1`, `Host: ${hostname}`, `Authorization: Bearer ${token}`]
    socket.write([...lines, 'Accept: text/event-stream', ...headers, '', ''].join('\r\n'))
  })
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
  const ended = new Promise<void>((done) => {
    socket.on('end', done)
    socket.on('close', () => done())
    socket.on('error', () => done())
  })
  return { text: () => text, ended, socket }
}

test('is available as server-sent events and resumes after Last-Event-ID', async ({ service }) => {
  const ann = await service.newVendor()
  await created(ann, { sku: 'FIRST' })
  const stream = openStream(service, ann.token)
  await until('output of the stream', () => stream.text().includes('"sku":"FIRST"'))
  assert.match(stream.text(), /^HTTP\/1\.1 200 /)
  assert.match(stream.text(), /\r\ncontent-type: text\/event-stream\r\n/i)
  await created(ann, { sku: 'SECOND' })
  await until('output of the stream', () => stream.text().includes('"sku":"SECOND"'))
  assert.match(
    stream.text(),
    /id: 0-2\nevent: change\ndata: \{"cursor":"0-2","id":\d+,"sku":"SECOND","what":\["created"\],"diamond":\{.*\}\}\n\n/,
  )
  stream.socket.destroy()
  const resumed = openStream(service, ann.token, '/v4/diamond/changes?after=now', ['Last-Event-ID: 0-1'])
  await until('output of the stream', () => resumed.text().includes('"sku":"SECOND"'))
  assert.not.match(resumed.text(), 'FIRST')
  resumed.socket.destroy()
  const bad = openStream(service, ann.token, '/v4/diamond/changes', ['Last-Event-ID: nonsense', 'Connection: close'])
  await bad.ended
  assert.match(bad.text(), /^HTTP\/1\.1 400 /)
})

test('streams until the token is revoked', async ({ service }) => {
  const ann = await service.newVendor()
  const stream = openStream(service, ann.token)
  await until('output of the stream', () => stream.text().includes('text/event-stream'))
  const { keys, settings, context } = service.installation
  const tokens = new AccessTokens({ keys, ttl: settings.TOKEN_TTL, clock: context.clock })
  const claims = tokens.verify(ann.token)
  assert.ok(typeof claims === 'object')
  const origin = { actor: 'operator', via: 'cli', correlation: 'test' } as const
  const noLogging = { note: () => {}, security: () => {} }
  const sessions = { ...context, ...noLogging, tokens, refreshTtl: settings.REFRESH_TTL, logEpoch: () => 0 }
  await revokeToken(sessions, { token: ann.token, client: claims.client }, origin)
  await until('the end of the stream', () => stream.text().endsWith('\r\n0\r\n\r\n'))
  stream.socket.destroy()
})

test('streams until the token expires', async () => {
  const time = { now: Date.now() }
  const service = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS, clock: () => time.now })
  try {
    const ann = await service.newVendor()
    const stream = openStream(service, ann.token)
    await until('output of the stream', () => stream.text().includes('text/event-stream'))
    time.now += service.installation.settings.TOKEN_TTL * 1000
    await until('the end of the stream', () => stream.text().endsWith('\r\n0\r\n\r\n'))
    refusal(401, await ann.get('/v4/diamond/changes'))
    stream.socket.destroy()
  } finally {
    await service.stop()
  }
})

test('ends streams and answers waiting requests when the service stops', async () => {
  const service = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS })
  const [ann, bob] = [await service.newVendor(), await service.newVendor()]
  const stream = openStream(service, bob.token)
  await until('output of the stream', () => stream.text().includes('text/event-stream'))
  const waiting = await fillWaitingRequests(ann)
  // A stream that the service did not end would be cut off in the middle of the response.
  await service.stop()
  for (const page of waiting) assert.equal((await page).changes, [])
  await stream.ended
  assert.ok(stream.text().endsWith('\r\n0\r\n\r\n'))
})

test.run()
