import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { startService } from '../api/harness/service.ts'
import { created } from '../api/harness/stones.ts'
import { CommandLine } from './command-line.ts'

type Context = { commands: CommandLine }
const test = suite<Context>('the proof of a diamond')
test.before.each((context) => {
  context.commands = new CommandLine()
})
test.after.each(({ commands }) => commands.remove())

test('is one file that can be verified without an installation', async ({ commands }) => {
  const service = await startService({ dataDir: commands.dataDir })
  const { id } = await created(service.ann, { sku: 'PROVEN' })
  const proof = join(commands.folder, 'proof.json')
  const keyFile = join(commands.folder, 'key.txt')
  const proven = await commands.run(['prove', 'diamond', String(id)]).finally(() => service.stop())
  assert.is(proven.code, 0, proven.err)
  writeFileSync(proof, proven.out)
  const { key } = JSON.parse(proven.out) as { key: string }
  writeFileSync(keyFile, `${key}\n`)

  const elsewhere = { DATA_DIR: join(commands.folder, 'none') }
  const checked = await commands.run(['check', proof, '--key', `@${keyFile}`, '--json'], elsewhere)
  const { size, ...rest } = JSON.parse(checked.out) as { size: number }
  assert.equal(rest, { ok: true, diamond: id, events: 1, why: '' })
  assert.ok(size > 0)
  assert.is(checked.code, 0)
  const [verified, changed, another, withoutAt] = await commands.runInTurn(
    [
      ['check', proof, '--key', key],
      ['check', writeChangedProof(proof), '--key', key, '--json'],
      ['check', proof, '--key', key.replace(/^adamant/, 'another')],
      ['check', proof, '--key', keyFile],
    ],
    elsewhere,
  )
  assert.match(verified?.out ?? '', /does not cover events after that checkpoint/)
  assert.is(changed?.code, 1)
  const found = JSON.parse(changed?.out ?? '') as { ok: boolean; why: string }
  assert.is(found.ok, false)
  assert.match(found.why, /DiamondCreated.*is not in the signed tree/)
  assert.is(another?.code, 2)
  assert.equal([withoutAt?.code, withoutAt?.out], [2, ''])
  assert.match(withoutAt?.err ?? '', `write --key @${keyFile}`)
  assert.match(another?.err ?? '', /--key: the id of the key does not match its name/)
})

/** Writes the proof with a changed sku. @returns its path */
function writeChangedProof(proof: string): string {
  const text = readFileSync(proof, 'utf8')
  const changed = `${proof}.changed`
  assert.match(text, '"sku":"PROVEN"')
  writeFileSync(changed, text.replace('"sku":"PROVEN"', '"sku":"PROVED"'))
  return changed
}

test('requires an existing diamond, and a check requires an existing file', async ({ commands }) => {
  await (await startService({ dataDir: commands.dataDir })).stop()
  const [none, noNumber, noFile] = await commands.runInTurn([
    ['prove', 'diamond', '77'],
    ['prove', 'diamond', 'x'],
    ['check', 'missing.json', '--key', 'x'],
  ])
  assert.equal([none?.code, noNumber?.code, noFile?.code], [1, 2, 1])
  assert.match(none?.err ?? '', /no diamond 77/)
})

test.run()
