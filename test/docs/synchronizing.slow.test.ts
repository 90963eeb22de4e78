import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { codeBlocksOf, isInstalled, run } from './blocks.ts'
import { UnreliableProxy } from './unreliable-proxy.ts'
import { newInstallation, type NewInstallation } from './new-installation.ts'

const PAGE = 'docs/synchronizing.md'
type Given = { given: NewInstallation; proxy: UnreliableProxy; proxyUrl: string }
const test = suite<Given>(PAGE)
test.before(async (context) => {
  context.given = await newInstallation()
  context.proxy = new UnreliableProxy(context.given.env['API'] ?? '')
  context.proxyUrl = await context.proxy.start()
})
test.after(async ({ given, proxy }) => {
  await proxy.stop()
  await given.remove()
})

if (isInstalled('curl') && isInstalled('jq')) {
  test('has shell commands that work in order', async ({ given: { folder, env } }) => {
    const script = ['set -euo pipefail', ...codeBlocksOf(PAGE, 'sh')].join('\necho ---\n')
    const { out, err, code } = await run('bash', ['-c', script], { env, cwd: folder })
    assert.is(code, 0, `${err}\n${out}`)
    const [, , listed, , changed, changes] = out.split('---\n')
    assert.is(listed, '')
    assert.is(changed, '["S-1",3900]\n["S-2",3900]\n')
    assert.match(changes ?? '', /^\[\d+,"S-1",\["created".*\]\]\n/)
  })
}

type Stone = { readonly sku: string; readonly price: number; readonly [member: string]: unknown }
/** In words of laboratories, most of which the service returns in another form. */
const stonesOf = (prefix: string): Stone[] =>
  [1, 2, 3].map((n) => ({
    sku: `${prefix}-${n}`,
    price: n * 1000,
    cutShape: 'Round Brilliant',
    carat: n,
    cutQuality: 'EX',
    fluorIntensity: 'None',
    culetSize: 'None',
    proportions: { table: 57, depth: 61.9 },
  }))

for (const [language, program, args, file] of [
  ['python', 'python3', [], 'sync.py'],
  ['js', process.execPath, [], 'sync.mjs'],
  ['php', 'php', [], 'sync.php'],
] as const) {
  if (!isInstalled(program)) continue
  test(`has a ${language} program that synchronizes although responses are lost`, async (context) => {
    const { given, proxy, proxyUrl } = context
    const cwd = join(given.folder, language)
    mkdirSync(cwd)
    writeFileSync(join(cwd, file), codeBlocksOf(PAGE, language)[0] ?? '')
    const sync = async (command: 'push' | 'follow') => {
      const { out, err, code } = await run(program, [...args, file, command], {
        env: { ...given.env, API: proxyUrl },
        cwd,
      })
      assert.is(code, 0, err)
      return out
    }
    const stock = (stones: readonly Stone[]) => writeFileSync(join(cwd, 'stock.json'), JSON.stringify(stones))
    const copied = () => {
      const { stones } = JSON.parse(readFileSync(join(cwd, 'copy.json'), 'utf8')) as { stones: Record<string, Stone> }
      return Object.values(stones).map(({ sku, price }) => [sku, price])
    }

    proxy.reset()
    const [one, two, three] = stonesOf(language) as [Stone, Stone, Stone]
    stock([one, { ...two, sku: ` ${two.sku} ` }, three])
    assert.match(await sync('push'), /^3 created, 0 changed, \d+ deleted\n$/)
    assert.ok(proxy.droppedResponses.includes('POST /v4/diamond/bulk 201'), 'a response was lost')
    assert.is(await sync('push'), '0 created, 0 changed, 0 deleted\n')
    assert.is(await sync('follow'), '3 stones\n')

    proxy.reset()
    const replacement = { ...three, sku: `${language}-4` }
    stock([one, { ...two, price: 2500 }, replacement])
    assert.is(await sync('push'), '1 created, 1 changed, 1 deleted\n')
    for (const method of ['PATCH', 'DELETE']) {
      assert.ok(
        proxy.droppedResponses.some((response) => response.startsWith(method)),
        `a response to ${method} was lost`,
      )
    }
    assert.is(await sync('follow'), '3 stones\n')
    const now = [
      [one.sku, 1000],
      [two.sku, 2500],
      [replacement.sku, 3000],
    ]
    assert.equal(copied().toSorted(), now)

    proxy.simulatesRestore = true
    assert.is(await sync('follow'), '3 stones\n')
    assert.equal(copied().toSorted(), now)
    assert.not.ok(proxy.simulatesRestore, 'it received the 410')

    stock([])
    const { code } = await run(program, [...args, file, 'push'], { env: { ...given.env, API: proxyUrl }, cwd })
    assert.is.not(code, 0, 'an empty stock deletes nothing')
  })
}

test.run()
