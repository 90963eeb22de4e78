import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { codeBlocksOf, isInstalled } from '../docs/blocks.ts'
import { CommandLine } from './command-line.ts'

type Context = { commands: CommandLine }
const test = suite<Context>('the checkpoint of a log')
test.before.each(async (context) => {
  context.commands = await CommandLine.onEngines()
})
test.after.each(({ commands }) => commands.remove())

/** The tree sizes of all signed checkpoints. */
async function signedSizes(commands: CommandLine): Promise<number[]> {
  const { out } = await commands.run(['events', 'checkpoints', '--json'])
  const lines = out.trim() === '' ? [] : out.trim().split('\n')
  return lines.map((line) => Number((JSON.parse(line) as SignedCheckpointEvent).data.checkpoint.split('\n')[1]))
}
type SignedCheckpointEvent = { readonly data: { readonly checkpoint: string } }

const run = promisify(execFile)
const binFolder = fileURLToPath(new URL('../../node_modules/.bin', import.meta.url))

test('is printed on request, and can be verified with openssl as docs/evidence.md describes', async ({ commands }) => {
  const started = commands.start(['serve', '--json'])
  const { url } = JSON.parse(await started.line()) as { url: string }
  await commands.json('user', 'add', 'a@example.com', '--password', 'right horse')
  const { err: warning } = await commands.run(['checkpoint'])
  assert.not.match(warning, 'start the service', 'a running service keeps the tree up to date')
  const result = await commands.json('checkpoint')
  assert.equal(Object.keys(result), ['origin', 'size', 'root', 'checkpoint', 'key'])
  const { origin, size, root, checkpoint, key } = result as Record<string, string>
  assert.is(checkpoint?.slice(0, checkpoint.indexOf('\n\n')), `${origin}\n${size}\n${root}`)
  assert.is(await (await fetch(`${url}/log/checkpoint`)).text(), checkpoint)
  assert.is(await (await fetch(`${url}/log/key`)).text(), `${key}\n`)

  const { out, err } = await commands.run(['checkpoint'])
  assert.is(out, checkpoint, 'no event was written since')
  assert.is(err, `Verify it with the key ${key}\n`)
  if (!isInstalled('openssl', ['version'])) return
  writeFileSync(join(commands.folder, 'checkpoint.txt'), out)
  writeFileSync(join(commands.folder, 'key.txt'), `${key}\n`)
  const [script = ''] = codeBlocksOf('docs/evidence.md', 'bash').filter((text) => text.includes('openssl'))
  const checked = await run('bash', ['-ec', script], { cwd: commands.folder })
  assert.match(checked.stdout, /Verified Successfully/)
  writeFileSync(join(commands.folder, 'checkpoint.txt'), out.replace(`\n${size}\n`, `\n${Number(size) + 1}\n`))
  const refused = await run('bash', ['-ec', script], { cwd: commands.folder }).catch((error: { code: number }) => error)
  assert.ok('code' in refused && refused.code !== 0)
})

test('is compared with a later one as docs/evidence.md describes', async ({ commands }) => {
  const started = commands.start(['serve', '--json'])
  const { url } = JSON.parse(await started.line()) as { url: string }
  const keep = async (name: string) =>
    writeFileSync(join(commands.folder, name), (await commands.run(['checkpoint'])).out)
  await commands.json('user', 'add', 'a@example.com', '--password', 'right horse')
  await keep('older.txt')
  await commands.json('user', 'disable', 'a@example.com')
  await keep('newer.txt')
  writeFileSync(join(commands.folder, 'key.txt'), await (await fetch(`${url}/log/key`)).text())
  const file = (name: string) => join(commands.folder, name)
  const withoutProof = await commands.run([
    'compare',
    file('older.txt'),
    file('newer.txt'),
    '--key',
    `@${file('key.txt')}`,
  ])
  assert.is(withoutProof.code, 2)
  const [address = ''] = /ADDRESS\/log\/consistency\?from=\d+&to=\d+/.exec(withoutProof.err) ?? []
  const proof = await fetch(address.replace('ADDRESS', url))
  assert.is(proof.status, 200, withoutProof.err)

  const [block = ''] = codeBlocksOf('docs/evidence.md', 'bash').filter((text) => text.includes('adamant compare'))
  const script = block.replaceAll('https://diamonds.example', url)
  const elsewhere = { ...process.env, PATH: `${binFolder}:${process.env['PATH'] ?? ''}`, DATA_DIR: file('none') }
  const compared = await run('bash', ['-ec', script], { cwd: commands.folder, env: elsewhere })
  assert.match(compared.stdout, /^Consistent: the log of \d+ events is the beginning of the log of \d+ events/)
  const mailed = readFileSync(file('older.txt'), 'utf8').replaceAll('\n', '\r\n')
  writeFileSync(file('older.txt'), mailed)
  const args = ['compare', file('newer.txt'), file('older.txt'), '--key', `@${file('key.txt')}`, '--proof']
  const ok = await commands.json(...args, file('consistency.json'))
  assert.equal(Object.keys(ok), ['ok', 'from', 'to', 'why'])
  const wrong = await commands.run([...args, file('key.txt')])
  assert.equal([wrong.code, wrong.out], [2, ''])
  assert.match(wrong.err, /--proof: the consistency proof from \d+ to \d+ is needed; the file is not JSON/)
})

test('is signed when a service stops, if events were written since the last one', async ({ commands }) => {
  const serve = async (work: () => Promise<unknown>) => {
    const started = commands.start(['serve', '--json'])
    await started.line()
    await work()
    started.kill('SIGTERM')
    assert.is((await started.ended).code, 0)
    return signedSizes(commands)
  }
  const first = await serve(() => commands.json('user', 'add', 'a@example.com', '--password', 'right horse'))
  assert.is(first.length, 1)
  assert.equal(await serve(async () => undefined), first)
  const last = await serve(() => commands.json('user', 'disable', 'a@example.com'))
  assert.is(last.length, 2)
  assert.ok(Number(last[1]) > Number(last[0]))
})

test('requires that a service has maintained the tree', async ({ commands }) => {
  await commands.json('user', 'add', 'a@example.com', '--password', 'right horse')
  const { code, err } = await commands.run(['checkpoint'])
  assert.is(code, 1)
  assert.match(err, 'start the service')
})

test.run()
