import { z } from 'zod'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { EVENTS } from '../../../src/events/registry.ts'
import { REDACTED, redactData } from '../../../src/events/catalogue.ts'
import { CommandLine } from '../command-line.ts'

type Context = { commands: CommandLine }
const test = suite<Context>('events')
test.before.each(async (context) => {
  context.commands = await CommandLine.onEngines()
})
test.after.each(({ commands }) => commands.remove())

/** Hashes by bcrypt and SHA-256, in the encodings that the log uses. */
const HASH = /\$2[aby]\$|[0-9a-f]{64}|[\w-]{43}/

test('are printed without hashes of passwords, tokens and client secrets, as text and as JSON', async ({
  commands,
}) => {
  await commands.json('user', 'add', 'a@example.com', '--password', 'right horse')
  await commands.json('user', 'password', 'a@example.com', '--password', 'left horse')
  await commands.json('token', 'add', 'a@example.com')
  const client = await commands.json('client', 'add', 'tests')
  await commands.json('client', 'rotate', String(client['client_id']))
  const server = commands.start(['serve', '--json'])
  const { url } = JSON.parse(await server.line()) as { url: string }
  const rotated = await commands.json('client', 'rotate', String(client['client_id']))
  const form = { grant_type: 'password', username: 'a@example.com', password: 'left horse', ...strings(rotated) }
  const response = await fetch(`${url}/api/oauth/v2/token`, { method: 'POST', body: new URLSearchParams(form) })
  assert.is(response.status, 200, await response.text())

  for (const words of [['events'], ['events', '--json']]) {
    const { out } = await commands.run(words)
    for (const type of [
      'AccountRegistered',
      'ApiTokenIssued',
      'ClientSecretRotated',
      'SessionOpened',
      'LinkKeySealed',
      'PersonKeySealed',
    ]) {
      assert.match(out, new RegExp(`${type}.*\\(not shown\\)`))
    }
    const shown = out.split('\n').filter((line) => !/^\d+ .* login-|"stream":"login-/.test(line))
    for (const line of shown) assert.not.match(line, HASH)
  }
})

const strings = (members: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(members).map(([name, value]) => [name, String(value)]))

/** Members with the name of a hash that are safe to print: ids, sealed keys and digests of files. */
const MAY_BE_SHOWN = new Set([
  'CopyDone.digest',
  'CertificationRemoved.digest',
  'StoneModelRemoved.digest',
  'LinkKeySealed.key',
  'LogKeySealed.key',
  'PersonKeySealed.key',
  'ApiTokenRevoked.token',
  'ApiTokenIssued.token',
  'SecretShared.token',
])

function memberNames(type: string): string[] {
  const payload = EVENTS[type]?.payload
  return payload instanceof z.ZodObject ? Object.keys(payload.shape) : []
}

test('have no printed member with the name of a hash, apart from the safe ones', () => {
  for (const type of Object.keys(EVENTS)) {
    for (const name of ['password', 'secret', 'digest', 'sealed', 'token', 'hash', 'key']) {
      const { [name]: value } = redactData(type, { [name]: 'x' })
      const isMember = memberNames(type).includes(name)
      if (isMember && !MAY_BE_SHOWN.has(`${type}.${name}`)) assert.is(value, REDACTED, `${type}.${name}`)
    }
  }
})

test.run()
