import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { FROM_SOURCE } from '../from-source.ts'

const test = suite('a command')

/** Opens its stores when an unreferenced timer says so, as one waits for a thread that keeps no process alive. */
const SOURCE = `
  import { run } from './src/cli/program.ts'
  import { NoInstallation } from './src/wiring/installation.ts'
  const open = async () => {
    await new Promise((done) => setTimeout(done, 200).unref())
    throw new NoInstallation('what it waited for has come')
  }
  await run(['status'], open, undefined)`

test('ends when what it waits for has come, whatever keeps the process alive', async () => {
  const cwd = fileURLToPath(new URL('../..', import.meta.url))
  const words = [...FROM_SOURCE, '--input-type=module', '-e', SOURCE]
  const [code, err] = await new Promise<[number | null, string]>((done) => {
    const child = execFile(process.execPath, words, { cwd, encoding: 'utf8' }, (_error, _out, said) =>
      done([child.exitCode, said]),
    )
  })
  assert.match(err, 'adamant: what it waited for has come')
  assert.is(code, 2)
})

test.run()
