import { execFileSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'

const test = suite('what docs/webhooks.md gives to verify a signature')

const text = readFileSync(new URL('../../docs/webhooks.md', import.meta.url), 'utf8')
const block = (language: string) => new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\`$`, 'm').exec(text)?.[1] ?? ''

const SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD+v8Pnl1rT5s='
const BODY = '{"type":"diamond.changed","a":"ä"}'
const now = Date.now()
const timestamp = String(Math.floor(now / 1000))
const signed = (body: string, at = timestamp) =>
  `v1,${createHmac('sha256', Buffer.from(SECRET.slice(6), 'base64'))
    .update(`msg_1.${at}.${body}`)
    .digest('base64')}`
const headers = (signature: string, at = timestamp) => ({
  'webhook-id': 'msg_1',
  'webhook-timestamp': at,
  'webhook-signature': signature,
})

const OLD = String(Number(timestamp) - 400)
const cases: readonly (readonly [name: string, isRight: boolean, headers: object, body: string])[] = [
  ['one that is right', true, headers(signed(BODY)), BODY],
  ['one of two', true, headers(`v1,AAAA ${signed(BODY)}`), BODY],
  ['of another body', false, headers(signed(`${BODY} `)), BODY],
  ['of another time', false, headers(signed(BODY, OLD), OLD), BODY],
  ['none', false, headers(''), BODY],
]

test('does so in Node', async () => {
  const module = `data:text/javascript;base64,${Buffer.from(block('js')).toString('base64')}`
  const { isGenuine } = (await import(module)) as { isGenuine: (...given: unknown[]) => boolean }
  for (const [name, isRight, given, body] of cases) {
    assert.is(isGenuine(SECRET, given, Buffer.from(body)), isRight, name)
  }
})

const hasPython = () => {
  try {
    execFileSync('python3', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

if (hasPython()) {
  test('does so in Python', () => {
    const given = JSON.stringify(cases.map(([, , found, body]) => [found, body]))
    const program = `${block('python')}
import json, sys
print(json.dumps([is_genuine("${SECRET}", found, body.encode()) for found, body in json.load(sys.stdin)]))`
    const said = execFileSync('python3', ['-c', program], { input: given, encoding: 'utf8' })
    assert.equal(
      JSON.parse(said),
      cases.map(([, isRight]) => isRight),
    )
  })
}

test.run()
