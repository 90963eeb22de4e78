import * as assert from 'uvu/assert'
import { parseSecretKeyDigest, secretStream } from '../../../src/credentials/secret-keys.ts'
import type { EventStore } from '../../../src/stores/ports/event-store.ts'
import { expect, request, type ApiResponse } from '../harness/request.ts'
import { form, newSender, reveal, shared, type Sender } from '../harness/secrets.ts'
import { apiSuite } from '../harness/service.ts'
import { waitFor } from '../../until.ts'

/** Streams on which an attempt occupies its slot until the test releases it. */
const held = { streams: new Set<string>(), released: Promise.withResolvers<void>() }

const delayRecording = (store: EventStore): EventStore => ({
  ...store,
  async append(stream, expected, events) {
    if (held.streams.has(stream) && events.some(({ type }) => type === 'PassphraseTried')) await held.released.promise
    return store.append(stream, expected, events)
  },
})

const test = apiSuite('concurrent passphrase checks', { settings: { RATE_LIMIT: '0' }, store: delayRecording })
test.before.each(() => {
  held.streams.clear()
  held.released = Promise.withResolvers()
})

const share = (url: string, { authorization }: Sender): Promise<ApiResponse> =>
  request(url, form('/api/v1/share', 'secret=it&passphrase=sesame', authorization))

/** Sends `count` wrong guesses, all of them delayed. @returns their responses, once one of them is rejected with 429 */
async function guessConcurrently(
  url: string,
  key: string,
  count: number,
  authorization?: string,
): Promise<Promise<ApiResponse>[]> {
  held.streams.add(secretStream(parseSecretKeyDigest(key) ?? ''))
  const guess = form(`/api/v1/secret/${key}`, 'passphrase=wrong', authorization)
  const responses = Array.from({ length: count }, () => request(url, guess))
  expect(429, await waitFor('a rejected guess', Promise.race(responses)))
  return responses
}

test('of one account leave capacity for other accounts, which are served first', async ({
  service: { url, installation },
}) => {
  const [crowd, one] = [await newSender(installation), await newSender(installation)]
  const theirs = await shared(url, crowd, { secret: 'theirs', passphrase: 'sesame' })
  const { secret_key } = await shared(url, one, { secret: 'the one', passphrase: 'sesame' })
  const flood = await guessConcurrently(url, theirs.secret_key, 40, crowd.authorization)
  const [revealed, sharing] = await Promise.all([reveal(url, secret_key, 'sesame'), share(url, one)])
  assert.is(revealed.status, 200, revealed.text)
  assert.is(sharing.status, 200, sharing.text)
  held.released.resolve()
  const statuses = new Set((await Promise.all(flood)).map(({ status }) => status))
  assert.ok(statuses.has(429) && !statuses.has(200))
})

test('without credentials leave capacity for accounts at the same address', async ({
  service: { url, installation },
}) => {
  const sender = await newSender(installation)
  const { secret_key } = await shared(url, sender, { secret: 'it', passphrase: 'sesame' })
  const flood = await guessConcurrently(url, secret_key, 40)
  assert.is((await share(url, sender)).status, 200)
  held.released.resolve()
  await Promise.all(flood)
})

test.run()
