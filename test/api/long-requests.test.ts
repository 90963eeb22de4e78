import * as assert from 'uvu/assert'
import { isForSecrets, longestRequests } from './harness/longest-requests.ts'
import { longestTurn } from './harness/longest-turn.ts'
import { basic, newSender, reveal, shared } from './harness/secrets.ts'
import { apiSuite } from './harness/service.ts'

// Runs alone: what other files leave to the garbage collector would count.

/** Milliseconds of processor time: 50 on a machine as it should be, and those of the tests are slower. */
const HELD = 200

const test = apiSuite('a request of the longest kind')

for (const [name, status, request] of longestRequests) {
  test(`does not hold up the others: ${name}, ${status}`, async ({ ann, service }) => {
    const wanted = request()
    const secret = isForSecrets(wanted)
    const sender = secret ? await newSender(service.installation) : undefined
    const headers = { ...wanted.headers, ...(sender && { Authorization: sender.authorization }) }
    const send = () => (secret ? service.send({ ...wanted, headers }) : ann.send(wanted))
    let answer: Awaited<ReturnType<typeof send>> | undefined
    const held = await longestTurn(async () => (answer = await send()))
    assert.is(answer?.status, status, answer?.text.slice(0, 300))
    assert.ok(held < HELD, `${held} ms`)
  })
}

/** Combining marks that normalising puts in order, which takes time that grows with the square of their number. */
const marks = (count: number) => `a${'\u0301\u0316'.repeat(count / 2)}`

test('does not hold up the others: an address of marks with wrong credentials', async ({ service }) => {
  const Authorization = basic(marks(9_000), 'wrong')
  const held = await longestTurn(() => service.send({ path: '/api/v1/authcheck', headers: { Authorization } }))
  assert.ok(held < 40, `${held} ms`)
})

test('does not hold up the others, nor those who wait for their passphrase: a passphrase of marks', async ({
  service,
}) => {
  const sender = await newSender(service.installation)
  const { secret_key } = await shared(service.url, sender, { secret: 'it', passphrase: 'sesame' })
  const started = performance.now()
  const held = await longestTurn(async () =>
    assert.is((await reveal(service.url, secret_key, marks(100_000))).status, 404),
  )
  assert.ok(held < HELD, `${held} ms`)
  assert.is((await reveal(service.url, secret_key, 'sesame')).status, 200)
  assert.ok(performance.now() - started < 5_000)
})

test.run()
