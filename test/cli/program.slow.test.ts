import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { FROM_SOURCE } from '../from-source.ts'

const PROGRAM = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

const test = suite('a command')

/** Opens the stores after an unreferenced timer, like a wait for a thread that does not keep the process alive. */
const SOURCE = `
  import { run } from './src/cli/program.ts'
  import { NoInstallation } from './src/wiring/installation.ts'
  const open = () =>
    new Promise((_, fail) => {
      setTimeout(() => fail(new NoInstallation('the timer has fired')), 200).unref()
    })
  await run(['status'], open, undefined)`

test('completes even if nothing that it waits for keeps the process alive', async () => {
  const cwd = fileURLToPath(new URL('../..', import.meta.url))
  const words = [...FROM_SOURCE, '--input-type=module', '-e', SOURCE]
  const [code, err] = await new Promise<[number | null, string]>((done) => {
    const child = execFile(process.execPath, words, { cwd, encoding: 'utf8' }, (_error, _out, stderr) =>
      done([child.exitCode, stderr]),
    )
  })
  assert.match(err, 'adamant: the timer has fired')
  assert.is(code, 2)
})

/** The files that the built program loads for a command line, from the coverage that Node records. */
function loadedFor(words: readonly string[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'adamant-loaded-'))
  try {
    const env = { ...process.env, NODE_V8_COVERAGE: folder }
    assert.is(spawnSync(process.execPath, [PROGRAM, ...words], { env }).status, 0)
    return readdirSync(folder).flatMap((name) => {
      const { result } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as { result: { url: string }[] }
      return result.map(({ url }) => url)
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const LARGE = /\/node_modules\/(?:@eventstore|@grpc|mongodb|nodemailer|pdfjs-dist|swagger-ui-dist)\//

test('loads neither other commands nor the clients of servers that are not configured', () => {
  const loaded = loadedFor(['serve', '--help'])
  const has = (file: string) => loaded.some((url) => url.endsWith(`/dist/${file}`))
  assert.ok(has('cli/serve.js') && has('wiring/service.js'), 'the modules of the service were not loaded')
  assert.equal(['cli/import.js', 'cli/verify.js', 'cli/move.js'].filter(has), [])
  assert.equal(
    loaded.filter((url) => LARGE.test(url)),
    [],
  )
})

test('that is misspelt ends with 2 and a suggestion', () => {
  const { status, stderr } = spawnSync(process.execPath, [PROGRAM, 'verfy'], { encoding: 'utf8' })
  assert.match(stderr, 'Did you mean verify?')
  assert.is(status, 2)
})

test.run()
