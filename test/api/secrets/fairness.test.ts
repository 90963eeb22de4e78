import * as assert from 'uvu/assert'
import { request, type Answer } from '../harness/request.ts'
import { form, newSender, reveal, shared, type Sender } from '../harness/secrets.ts'
import { apiSuite } from '../harness/service.ts'

const test = apiSuite('the passphrases of one account', { settings: { RATE_LIMIT: '0' } })

const share = (url: string, { authorization }: Sender): Promise<Answer> =>
  request(url, form('/api/v1/share', 'secret=it&passphrase=sesame', authorization))

test('leave room for others, who are served before it has had all of its own', async ({
  service: { url, installation },
}) => {
  const [crowd, one] = [await newSender(installation), await newSender(installation)]
  const { secret_key } = await shared(url, one, { secret: 'the one', passphrase: 'sesame' })
  let under = 0
  const flood = Array.from({ length: 60 }, async () => {
    under++
    const { status } = await share(url, crowd)
    under--
    return status
  })
  await new Promise((done) => setTimeout(done, 50))
  const [revealed, sharing] = await Promise.all([reveal(url, secret_key, 'sesame'), share(url, one)])
  assert.is(revealed.status, 200, revealed.text)
  assert.is(sharing.status, 200, sharing.text)
  assert.ok(under > 0, 'the crowd was through already')
  const statuses = new Set(await Promise.all(flood))
  assert.equal([...statuses].sort(), [200, 429])
})

test('and of those who show none leave room for accounts at the same address', async ({
  service: { url, installation },
}) => {
  const sender = await newSender(installation)
  const secrets = await Promise.all(
    Array.from({ length: 8 }, () => shared(url, sender, { secret: 'it', passphrase: 'sesame' })),
  )
  const guesses = secrets.flatMap(({ secret_key }) => Array.from({ length: 5 }, () => reveal(url, secret_key, 'wrong')))
  await new Promise((done) => setTimeout(done, 30))
  assert.is((await share(url, sender)).status, 200)
  await Promise.all(guesses)
})

test.run()
