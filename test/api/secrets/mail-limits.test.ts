import * as assert from 'uvu/assert'
import { suite } from 'uvu'
import { MailRateLimiter } from '../../../src/credentials/mail-rate-limiter.ts'
import { RequestError } from '../../../src/domain/request-error.ts'
import { expect, request } from '../harness/request.ts'
import { form, newSender } from '../harness/secrets.ts'
import { GENEROUS_TIMEOUT_MS, startService } from '../harness/service.ts'

const test = suite('mails with links')

test('are limited per hour for each recipient, across senders, and for each account', async () => {
  const service = await startService({
    readModelTimeoutMs: GENEROUS_TIMEOUT_MS,
    settings: { MAILS_PER_RECIPIENT: '2', MAILS_PER_ACCOUNT: '3' },
  })
  try {
    const [ann, bob] = [await newSender(service.installation), await newSender(service.installation)]
    const send = (by: { authorization: string }, to: string) =>
      request(service.url, form('/api/v1/share', `secret=x&recipient=${to}`, by.authorization))
    expect(200, await send(ann, 'tom@example.com'))
    expect(200, await send(bob, 'TOM@example.com'))
    const refused = expect(429, await send(ann, 'tom@example.com'))
    assert.match(refused.text, /At most 2 mails an hour are sent to this recipient/)
    assert.ok(Number(refused.headers['retry-after']) > 3_500)
    expect(200, await send(ann, 'eve@example.com'))
    expect(200, await send(ann, 'kim@example.com'))
    assert.match(
      expect(429, await send(ann, 'new@example.com')).text,
      /At most 3 mails an hour are sent by this account/,
    )
    expect(200, await request(service.url, form('/api/v1/share', 'secret=x', ann.authorization)))
  } finally {
    await service.stop()
  }
})

const retryAfterOf = (action: () => void): number | undefined => {
  try {
    action()
    return undefined
  } catch (error) {
    return error instanceof RequestError ? error.retryAfter : Number.NaN
  }
}

test('are counted in a sliding hour of the monotonic clock; a list of recipients is counted completely or not at all', () => {
  const time = { now: 0 }
  const limits = new MailRateLimiter({ perRecipient: 2, perAccount: 5, monotonic: () => time.now })
  limits.reserve(1, ['a@b', 'c@d'])
  time.now = 600_000
  limits.reserve(1, ['a@b'])
  assert.is(
    retryAfterOf(() => limits.reserve(1, ['e@f', 'a@b'])),
    3000,
  )
  limits.reserve(1, ['e@f', 'g@h'])
  assert.is(
    retryAfterOf(() => limits.reserve(1, ['i@j'])),
    3000,
  )
  time.now = 3_600_000
  limits.reserve(1, ['i@j', 'a@b'])
})

test('that are not sent do not count', () => {
  const limits = new MailRateLimiter({ perRecipient: 2, perAccount: 2 })
  for (let round = 0; round < 5; round++) limits.reserve(1, ['a@b', 'c@d'])()
  limits.reserve(1, ['a@b', 'a@b'])
  assert.ok(retryAfterOf(() => limits.reserve(1, ['c@d'])))
})

test('are unlimited if the limit is 0', () => {
  const limits = new MailRateLimiter({ perRecipient: 0, perAccount: 0 })
  for (let sent = 0; sent < 1000; sent++) limits.reserve(1, ['a@b'])
})

test.run()
