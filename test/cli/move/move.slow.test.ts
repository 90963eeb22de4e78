import { createHash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { vendor, type Vendor } from '../../api/harness/account.ts'
import { expect, type ApiResponse } from '../../api/harness/request.ts'
import { pathOf } from '../../api/harness/form.ts'

import type { Service } from '../../api/harness/service.ts'
import { created, shown, stone } from '../../api/harness/stones.ts'
import { mongoServer } from '../../mongo-server.ts'
import { all } from '../../contract/event-store/given.ts'
import {
  copiedEvents,
  fillInstallation,
  resultOf,
  waitForScores,
  MoveFixture,
  type InstallationContents,
  type InstallationConfig,
} from './moving.ts'
import { until } from '../../until.ts'

const test = suite<{ fixture: MoveFixture }>('moving an installation')
test.before.each(async (context) => {
  context.fixture = await MoveFixture.open()
})
test.after.each(({ fixture }) => fixture.close())

/** Ids of the stones whose creation was acknowledged, by sku. */
type AcknowledgedStones = Map<string, number>

/** Creates stones until the service refuses one. */
async function writeUntilRefused(ann: Vendor, acknowledged: AcknowledgedStones): Promise<void> {
  for (let number = 0; ; number++) {
    const response = await ann.post('/v4/diamond', stone({ sku: `meanwhile-${number}` }))
    if (response.status !== 201) return void expect(503, response)
    acknowledged.set(`meanwhile-${number}`, shown(response).id)
  }
}

type MovedSource = {
  readonly filled: InstallationContents
  readonly acknowledged: AcknowledgedStones
  readonly before: string
  readonly service: Service
}

/** Moves a running installation during writes, and checks that its service then serves reads only. */
async function copyDuringWrites(
  fixture: MoveFixture,
  from: InstallationConfig,
  to: InstallationConfig,
  service: Service,
): Promise<Pick<MovedSource, 'acknowledged' | 'service'>> {
  const { ann } = service
  const acknowledged: AcknowledgedStones = new Map()
  const writing = writeUntilRefused(ann, acknowledged)
  await until('writes', () => acknowledged.size > 20)
  const { events } = resultOf(await fixture.move(from, to))
  await writing
  assert.ok(Number(events) > 100)
  const refused = await ann.post('/v4/diamond', { sku: 'late', cutShape: 2, carat: 1 })
  expect(503, refused)
  assert.match(refused.text, /accepts no writes: it was moved/)
  assert.is(refused.headers['retry-after'], '30')
  expect(200, await ann.get('/v4/diamond?limit=1'))
  await assertReportsMove(fixture, from, service)
  return { acknowledged, service }
}

/** Readiness, metrics and status of the source report the move; the latter two name its target. */
async function assertReportsMove(fixture: MoveFixture, from: InstallationConfig, service: Service): Promise<void> {
  assert.match(expect(503, await service.send({ path: '/health/ready' })).text, /writes are refused/)
  assert.match(expect(200, await service.send({ path: '/metrics' })).text, /^adamant_moved\{to="[^"]+"\} 1$/m)
  const { code, out, err } = await fixture.commands.run(['status', '--json'], {
    ...from.settings,
    DATA_DIR: from.dataDir,
  })
  assert.is(code, 1)
  assert.match(err, /was moved to \w+:/)
  assert.is((JSON.parse(out) as { ok: boolean }).ok, false)
}

/** A service on the target has all events, files and stones of the source, and continues its scoring and mails. */
async function assertContinuesAt(
  fixture: MoveFixture,
  to: InstallationConfig,
  { filled, acknowledged, before, service }: MovedSource,
): Promise<void> {
  const { postbox } = fixture
  const sent = postbox.accepted.length
  const scored = await firstScoreEventIds(service)
  const target = await fixture.serve(to)
  try {
    const ann = vendor(target.url, service.ann.account, service.ann.token)
    assertSameEvents(await copiedEvents(target.installation.store), await copiedEvents(service.installation.store))
    for (const [sku, id] of acknowledged) assert.is(shown(expect(200, await ann.get(`/v4/diamond/${id}`))).sku, sku)
    assert.is(withoutAddresses(await ann.get(`/v4/diamond/${filled.older}`)), before)
    expect(200, await target.send({ path: pathOf(filled.file) }))
    const pdf = await bytesOf(await target.installation.files.readFile(digestOf(filled.pdf)))
    assert.is(digestOf(pdf), digestOf(filled.pdf))

    const { id } = await created(ann, { sku: 'NEW' })
    await until(
      'scores of the new stone',
      async () => (await target.installation.store.readStream(`scores-${id}`)).length > 0,
    )
    assert.equal(await firstScoreEventIds(target), scored)

    postbox.refuse.message = () => undefined
    await until('the mail that was not sent yet', () => postbox.accepted.length > sent)
    assert.is(postbox.accepted.length, sent + 1)
    assert.match(postbox.accepted.at(-1)?.text ?? '', filled.unsentSecret.secret_key)
  } finally {
    await target.stop()
  }
}

/** A body without base URLs, which differ between services, and signatures of file links, which change every 5 minutes. */
const withoutAddresses = ({ text: body }: ApiResponse) =>
  body.replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, '').replaceAll(/(\/file\?signature=)[\w-]+/g, '$1')
const digestOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

async function bytesOf(stream: Readable | undefined): Promise<Buffer> {
  return Buffer.concat((stream === undefined ? [] : await all<unknown>(stream)) as Buffer[])
}

/** Compares event by event: the diff of thousands of events would take minutes to print. */
function assertSameEvents(events: readonly unknown[], expected: readonly unknown[]): void {
  assert.is(events.length, expected.length)
  for (const [index, event] of events.entries()) assert.equal(event, expected[index])
}

/** Ids of the events that scored the 21 stones of `fillInstallation`. */
async function firstScoreEventIds({ installation: { store } }: Service): Promise<string[]> {
  const scores = await all(store.readAll('start', { prefixes: ['scores-'] }))
  return scores.filter(({ data }) => Number(data['id']) <= 21).map(({ id }) => id)
}

test('to another folder keeps all acknowledged writes, and repeats no scoring and no mail', async ({ fixture }) => {
  const from = fixture.sqlite('a')
  const to = fixture.sqlite('b')
  const service = await fixture.serve(from)
  try {
    const filled = await fillInstallation(service, fixture.postbox)
    const before = withoutAddresses(await service.ann.get(`/v4/diamond/${filled.older}`))
    const source = await copyDuringWrites(fixture, from, to, service)
    // A process that opens the source after the move refuses writes too.
    const other = await fixture.commands.run(['user', 'add', 'c@example.com', '--password', 'right horse'], {
      DATA_DIR: from.dataDir,
    })
    assert.is(other.code, 1)
    assert.match(other.err, /was moved to sqlite:/)
    await assertContinuesAt(fixture, to, { ...source, filled, before })
    assert.is(resultOf(await fixture.move(from, to))['finishedBefore'], true)
  } finally {
    await service.stop()
  }
})

test('to a target with another master key is refused before anything is copied', async ({ fixture }) => {
  const from = fixture.sqlite('a')
  const to = fixture.sqlite('b')
  await (await fixture.serve(from)).stop()
  const MASTER_KEY = randomBytes(32).toString('base64')
  const { code, err } = await fixture.move(from, { ...to, settings: { MASTER_KEY } })
  assert.is(code, 1)
  assert.match(err, /master key of the source cannot decrypt/)
  assert.not.ok(err.includes(MASTER_KEY))
  const again = resultOf(await fixture.move(from, to))
  assert.ok(Number(again['events']) > 0)
})

test('requires an empty target', async ({ fixture }) => {
  const [from, to] = [fixture.sqlite('a'), fixture.sqlite('b')]
  for (const config of [from, to]) await (await fixture.serve(config)).stop()
  const key = { settings: { MASTER_KEY: fixture.masterKey(from) } }
  const { code, err } = await fixture.move(from, { ...to, ...key })
  assert.is(code, 1)
  assert.match(err, /not empty/)
})

test('from a missing installation, to itself or without a target ends with 2', async ({ fixture }) => {
  const [from, to] = [fixture.sqlite('a'), fixture.sqlite('b')]
  assert.is((await fixture.move(from, to)).code, 2)
  assert.not.ok(existsSync(join(from.dataDir, 'events.db')))
  assert.is((await fixture.move(from, from)).code, 2)
  assert.is((await fixture.commands.run(['move', '--from', from.address])).code, 2)
})

const mongo = await mongoServer('copies to EventStoreDB and MongoDB')
if (mongo !== undefined) {
  test('to EventStoreDB and MongoDB, and from there back to a folder, keeps all acknowledged writes', async ({
    fixture,
  }) => {
    const from = fixture.sqlite('a')
    const back = fixture.sqlite('back')
    const source = await fixture.serve(from)
    const to = await fixture.servers(fixture.masterKey(from))
    try {
      const filled = await fillInstallation(source, fixture.postbox)
      const before = withoutAddresses(await source.ann.get(`/v4/diamond/${filled.older}`))
      const copied = await copyDuringWrites(fixture, from, to, source)
      await assertContinuesAt(fixture, to, { ...copied, filled, before })
    } finally {
      await source.stop()
    }
    const moved = await fixture.serve(to)
    try {
      const stones = await copyDuringWrites(fixture, to, back, moved)
      const returned = await fixture.serve({ ...back, settings: { MASTER_KEY: fixture.masterKey(from) } })
      try {
        await waitForScores(returned, 21)
        assertSameEvents(await copiedEvents(returned.installation.store), await copiedEvents(moved.installation.store))
        const ann = vendor(returned.url, moved.ann.account, moved.ann.token)
        for (const [sku, id] of stones.acknowledged) assert.is(shown(await ann.get(`/v4/diamond/${id}`)).sku, sku)
      } finally {
        await returned.stop()
      }
    } finally {
      await moved.stop()
    }
  })
}

test.run()
