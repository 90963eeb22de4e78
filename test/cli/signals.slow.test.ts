import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { isInstalled } from '../docs/blocks.ts'
import { waitFor } from '../until.ts'
import { CommandLine } from './command-line.ts'

type Context = { commands: CommandLine }
const test = suite<Context>('a signal')
test.before.each((context) => {
  context.commands = new CommandLine()
})
test.after.each(({ commands }) => commands.remove())

/** The last line of the service's start, and of the demo's. */
const READY = /is ready at|stays up until/

test('SIGHUP stops the service as SIGTERM does', async ({ commands }) => {
  const server = commands.start(['serve', '--json'])
  await server.line()
  server.kill('SIGHUP')
  assert.is((await server.ended).code, 0)
})

test('SIGUSR1 does not open a debugger', async ({ commands }) => {
  const server = commands.start(['serve', '--json'])
  const { url } = JSON.parse(await server.line()) as { url: string }
  server.kill('SIGUSR1')
  assert.is((await fetch(`${url}/health/ready`)).status, 200)
  server.kill('SIGTERM')
  const { code, err } = await server.ended
  assert.is(code, 0)
  assert.not.match(err, /debugger/i)
  assert.match(err, /SIGUSR1 is ignored/)
})

if (isInstalled('npm')) {
  const scripts = [['start'], ['demo', '--', '--count', '20']]
  for (const script of scripts) {
    test(`SIGTERM to npm ends what npm run ${script.join(' ')} has started`, async ({ commands }) => {
      const npm = spawn('npm', ['run', ...script], {
        cwd: fileURLToPath(new URL('../../', import.meta.url)),
        env: { ...process.env, DATA_DIR: commands.dataDir, PORT: '0', LOG_LEVEL: 'warn' },
        stdio: ['ignore', 'ignore', 'pipe'],
      })
      let output = ''
      const isReady = new Promise<void>((done) => {
        npm.stderr.on('data', (words) => {
          output += String(words)
          if (READY.test(output)) done()
        })
      })
      // The pipe closes when npm and all processes below have ended.
      const ended = text(npm.stderr)
      await waitFor(`the service: ${output}`, Promise.race([isReady, once(npm, 'exit')]))
      assert.match(output, READY)
      npm.kill('SIGTERM')
      await waitFor('the end of the service', ended)
    })
  }
}

test.run()
