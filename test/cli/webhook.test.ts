import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { signatureBy, startReceiver } from '../api/webhooks/receiver.ts'
import { CommandLine } from './command-line.ts'

type Context = { commands: CommandLine }
const test = suite<Context>('adamant webhook')
test.before(async (context) => {
  context.commands = await CommandLine.onEngines()
  for (const email of ['ann@example.com', 'bob@example.com']) {
    await context.commands.json('user', 'add', email, '--password', 'right horse')
  }
})
test.after(({ commands }) => commands.remove())

const ALLOW_LOCAL_URLS = { WEBHOOKS_HTTP: 'true', WEBHOOKS_PRIVATE: 'true' }
const lastOf = (out: string) => JSON.parse(out.trim().split('\n').at(-1) ?? '') as Record<string, unknown>

test('asks to start the service first, because a webhook begins at the current end of the change feed', async ({
  commands,
}) => {
  const { code, err } = await commands.run(['webhook', 'add', 'ann@example.com', 'https://shop.example.com/stock'])
  assert.is(code, 1)
  assert.match(err, /read model diamonds has not been built .*: start the service/)
  await commands.start(['serve', '--json']).line()
})

test('adds, lists and removes webhooks', async ({ commands }) => {
  const url = 'https://shop.example.com/stock'
  const made = await commands.json('webhook', 'add', 'ann@example.com', url, '--description', 'Stock')
  assert.match(String(made['secret']), /^whsec_/)
  const { id, created } = made
  const shown = { id, url, description: 'Stock', state: 'active', created, error: null }
  const other = await commands.json('webhook', 'add', 'bob@example.com', url)
  const listed = async (...of: string[]) => (await commands.json('webhook', 'list', ...of))['webhooks']
  assert.equal(await listed('ann@example.com'), [{ account: 1, ...shown }])
  assert.equal(
    ((await listed()) as { id: number }[]).map((one) => one.id),
    [id, other['id']],
  )
  assert.equal(await commands.json('webhook', 'remove', String(id)), { id })
  assert.equal(await listed('ann@example.com'), [])
})

test('sends a signed test message, and reports by its exit code whether it was accepted', async ({ commands }) => {
  let status = 204
  const receiver = await startReceiver((_message, response) => void response.writeHead(status).end())
  try {
    const made = lastOf(
      (await commands.run(['webhook', 'add', 'ann@example.com', receiver.url, '--json'], ALLOW_LOCAL_URLS)).out,
    )
    const words = ['webhook', 'test', String(made['id']), '--json']
    const tested = await commands.run(words, ALLOW_LOCAL_URLS)
    assert.is(tested.code, 0, tested.err)
    assert.is(lastOf(tested.out)['status'], 204)
    const [message] = receiver.messages
    assert.ok(message)
    assert.equal(message.signatures, [signatureBy(String(made['secret']), message)])
    status = 500
    const refused = await commands.run(words, ALLOW_LOCAL_URLS)
    assert.is(refused.code, 1)
    assert.is(lastOf(refused.out)['error'], 'Responded with 500')
  } finally {
    await receiver.stop()
  }
})

test('ends with a message, and 2 for an invalid argument or 1 for an account or webhook that does not exist', async ({
  commands,
}) => {
  const bad: readonly (readonly [words: string[], exitCode: number, message: RegExp])[] = [
    [['add', 'nobody@example.com', 'https://example.com/'], 1, /no account/],
    [['add', 'ann@example.com', 'http://example.com:8080/'], 2, /must begin with https/],
    [['add', 'ann@example.com', 'https://169.254.169.254/'], 2, /not on the public internet/],
    [['add', 'ann@example.com', 'https://example.com/', '--description', 'x'.repeat(501)], 2, /at most 500/],
    [['test', '999'], 1, /no webhook 999/],
    [['remove', 'x'], 1, /no webhook x/],
    [['list', 'nobody@example.com'], 1, /no account/],
  ]
  const ended = await commands.runInTurn(bad.map(([words]) => ['webhook', ...words]))
  for (const [index, [words, exitCode, message]] of bad.entries()) {
    assert.is(ended[index]?.code, exitCode, words.join(' '))
    assert.match(ended[index]?.err ?? '', message)
  }
})

test.run()
