import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { suite } from 'uvu'
import { request, type ApiResponse } from '../api/harness/request.ts'
import { expectUnknownSecret, post, reveal, shared, shownIn, type Sender } from '../api/harness/secrets.ts'
import { rounds } from '../rounds.ts'
import { senderIn } from './accounts-in-folder.ts'
import { startServer, type ServerProcess } from './server-process.ts'

type Given = { dataDir: string; one: ServerProcess; other: ServerProcess; ann: Sender }
const test = suite<Given>('two service processes on one data folder')
const ROUNDS = rounds(25, 1_000)

test.before(async (given) => {
  given.dataDir = mkdtempSync(join(tmpdir(), 'adamant-two-'))
  given.ann = await senderIn(given.dataDir)
  given.one = await startServer(given.dataDir)
  given.other = await startServer(given.dataDir)
})
test.after(async ({ one, other, dataDir }) => {
  assert.equal([await one.stop(), await other.stop()], [0, 0])
  rmSync(dataDir, { recursive: true, force: true })
})

const statuses = (responses: readonly ApiResponse[]) => {
  const counted: Record<number, number> = {}
  for (const { status } of responses) counted[status] = (counted[status] ?? 0) + 1
  return counted
}

/** Sends `count` requests concurrently, alternating between the two processes. */
const toBoth = ({ one, other }: Given, count: number, send: (url: string) => Promise<ApiResponse>) =>
  Promise.all(Array.from({ length: count }, (_, n) => send(n % 2 === 0 ? one.url : other.url)))

test('reveal a secret to exactly one of 200 concurrent readers', async (given) => {
  for (let round = 0; round < rounds(5, 1_000); round++) {
    const { secret_key } = await shared(given.one.url, given.ann, { secret: 'once' })
    const responses = await toBoth(given, 200, (url) => post(url, `secret/${secret_key}`))
    assert.equal(statuses(responses), { 200: 1, 404: 199 })
    for (const response of responses) {
      if (response.status === 200) assert.is(shownIn(response).value, 'once')
      else expectUnknownSecret(response, secret_key)
    }
  }
})

test('let exactly one of a concurrent read and burn succeed', async (given) => {
  const { one, other, ann } = given
  let read = 0
  for (let round = 0; round < ROUNDS; round++) {
    const { secret_key, metadata_key } = await shared(one.url, ann, { secret: 'once' })
    const [reading, burning] = round % 2 === 0 ? [one, other] : [other, one]
    const [reader, burner] = await Promise.all([
      post(reading.url, `secret/${secret_key}`),
      post(burning.url, `private/${metadata_key}/burn`),
    ])
    assert.equal(statuses([reader, burner]), { 200: 1, 404: 1 })
    const { state } = shownIn(await post(one.url, `private/${metadata_key}`))
    assert.is(state, reader.status === 200 ? 'received' : 'burned')
    if (reader.status === 200) read++
  }
  console.log(`NOTE: the reader won ${read} of ${ROUNDS} rounds`)
})

test('keep a secret after wrong passphrases, and check at most five of them', async (given) => {
  for (let round = 0; round < rounds(3, 1_000); round++) {
    const { secret_key, metadata_key } = await shared(given.one.url, given.ann, { secret: 'x', passphrase: 'right' })
    const responses = await toBoth(given, 16, (url) => reveal(url, secret_key, 'wrong'))
    assert.equal(statuses(responses), { 404: 5, 429: 11 })
    assert.is(shownIn(await post(given.other.url, `private/${metadata_key}`)).state, 'new')
  }
})

test('keep a secret after four concurrent wrong passphrases, and reveal it for the right one', async (given) => {
  for (let round = 0; round < rounds(3, 1_000); round++) {
    const { secret_key } = await shared(given.one.url, given.ann, { secret: 'kept', passphrase: 'right' })
    const responses = await toBoth(given, 4, (url) => reveal(url, secret_key, 'wrong'))
    assert.equal(statuses(responses), { 404: 4 })
    assert.is(shownIn(await reveal(given.other.url, secret_key, 'right')).value, 'kept')
  }
})

test('keep a secret after concurrent GET, HEAD and link previews of both pages', async (given) => {
  for (let round = 0; round < rounds(5, 1_000); round++) {
    const { secret_key, metadata_key } = await shared(given.one.url, given.ann, { secret: 'kept' })
    const paths = [`/api/v1/secret/${secret_key}`, `/secret/${secret_key}`, `/private/${metadata_key}`]
    for (const method of ['GET', 'HEAD']) {
      for (const path of paths) {
        const responses = await toBoth(given, 2, (url) => request(url, { method, path, headers: PREVIEW }))
        assert.equal(statuses(responses), { [path.startsWith('/api') ? 405 : 200]: 2 })
      }
    }
    assert.is(shownIn(await post(given.other.url, `private/${metadata_key}`)).state, 'new')
    assert.is(shownIn(await post(given.other.url, `secret/${secret_key}`)).value, 'kept')
  }
})

const PREVIEW = { 'User-Agent': 'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)' }

test('show each other changes immediately', async ({ one, other, ann }) => {
  for (let round = 0; round < ROUNDS; round++) {
    const { secret_key } = await shared(one.url, ann, { secret: `value ${round}` })
    assert.is(shownIn(await post(other.url, `secret/${secret_key}`)).value, `value ${round}`)
    expectUnknownSecret(await post(one.url, `secret/${secret_key}`), secret_key)
  }
})

test.run()
