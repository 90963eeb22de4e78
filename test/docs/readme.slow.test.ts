import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { freePort } from '../free-port.ts'
import { withFolder } from '../temporary-folder.ts'
import { codeBlocksOf, isInstalled, run } from './blocks.ts'

const test = suite("the README's first calls")

const cwd = fileURLToPath(new URL('../../', import.meta.url))

/** The block, for a port that no other test uses. */
const firstCalls = async () => (codeBlocksOf('README.md', 'sh')[1] ?? '').replaceAll('8080', String(await freePort()))

function assertResponses(out: string): void {
  assert.match(out, /HTTP\/1\.1 200 [^]*X-Total-Count[^:]*: 1/i)
  assert.match(out, /"price": ?2250/)
  assert.match(out, /"fluorIntensity"/)
  assert.match(out, /DiamondCreated[^]*DiamondPatched/)
}

if (isInstalled('curl')) {
  test('work in a shell, in order', () =>
    withFolder(async (folder) => {
      const script = `set -eo pipefail; trap 'kill %1; wait' EXIT\n${await firstCalls()}`
      const { out, err, code } = await run('bash', ['-c', script], { env: { DATA_DIR: folder }, cwd })
      assert.is(code, 0, `${err}\n${out}`)
      assertResponses(out)
    }))
}

if (isInstalled('curl') && isInstalled('script')) {
  test('print no error of the shell when they are pasted into a terminal', () =>
    withFolder(async (folder) => {
      const input = `${await firstCalls()}kill %1; wait; exit 0\n`
      const words = ['--quiet', '--return', '--command', 'bash --norc -i', '/dev/null']
      const { out, code } = await run('script', words, { env: { DATA_DIR: folder }, cwd, input })
      assert.is(code, 0, out)
      assert.not.match(out, /^bash: .*/m)
      assertResponses(out)
    }))
}

test.run()
