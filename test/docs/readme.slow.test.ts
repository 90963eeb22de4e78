import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { freePort } from '../free-port.ts'
import { codeBlocksOf, isInstalled, run } from './blocks.ts'

const test = suite("the README's first requests")

if (isInstalled('curl')) {
  test('work in a shell, in order', async () => {
    const [, calls = ''] = codeBlocksOf('README.md', 'sh')
    const folder = mkdtempSync(join(tmpdir(), 'adamant-readme-'))
    try {
      const port = String(await freePort())
      // With -m, a job is a process group, so that npm's child process ends with it.
      const script = `set -emo pipefail; trap 'kill %1; wait' EXIT\n${calls.replaceAll('8080', port)}`
      const cwd = fileURLToPath(new URL('../../', import.meta.url))
      const { out, err, code } = await run('bash', ['-c', script], { env: { DATA_DIR: folder }, cwd })
      assert.is(code, 0, `${err}\n${out}`)
      assert.match(out, /HTTP\/1\.1 200 [^]*X-Total-Count: 1/i)
      assert.match(out, /"price": ?2250/)
      assert.match(out, /"fluorIntensity"/)
      assert.match(out, /DiamondCreated[^]*DiamondPatched/)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
}

test.run()
