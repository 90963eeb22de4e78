import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { isInstalled } from '../docs/blocks.ts'
import { CommandLine } from './command-line.ts'

type Context = { commands: CommandLine }
const test = suite<Context>('the demo')
test.before.each((context) => {
  context.commands = new CommandLine()
})
test.after.each(({ commands }) => commands.remove())

const hasCurl = isInstalled('curl')

/** Runs a line as a user pastes it into a shell. @returns its stdout, parsed as JSON */
const runInShell = async (line: string) => {
  const { stdout } = await promisify(execFile)('sh', ['-c', line])
  return JSON.parse(stdout) as unknown
}

test('prints an account, a client and curl commands that list stones and fetch a token', async ({ commands }) => {
  const demo = commands.start(['demo', '--count', '20'])
  const tokenLine = await demo.line((line) => /^ +curl .*token/.test(line))
  const listLine = await demo.line((line) => /^ +curl .*limit=2/.test(line))
  assert.match(await demo.line((line) => line.startsWith('account')), /^account +demo@example\.com, password \S+$/)
  assert.match(await demo.line((line) => line.startsWith('client')), /^client +\S+, secret \S+$/)

  if (hasCurl) await tryLines(listLine, tokenLine)
  demo.kill('SIGINT')
  assert.is((await demo.ended).code, 0)
})

/** Runs both commands, and lists the stones again with the token that was fetched. */
async function tryLines(listLine: string, tokenLine: string): Promise<void> {
  const stones = (await runInShell(listLine)) as { sku: string }[]
  assert.is(stones.length, 2)
  assert.match(stones[0]?.sku ?? '', /^DIA-000/)
  const { access_token, token_type } = (await runInShell(tokenLine)) as Record<string, string>
  assert.is(token_type, 'bearer')
  const again = listLine.replace(/Bearer [^']+/, `Bearer ${access_token}`)
  assert.not.equal(again, listLine)
  assert.equal(await runInShell(again), stones)
}

test.run()
