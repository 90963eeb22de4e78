import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { CommandLine, type Started } from '../cli/command-line.ts'
import { expect } from '../api/harness/request.ts'
import { list, shown, stone } from '../api/harness/stones.ts'
import { withInstallation } from './serving.ts'
import { pause } from '../until.ts'

/** Milliseconds that each role is watched: what has nothing to hold on to ends within a few seconds. */
const WATCHED = process.env['ADAMANT_FULL'] === '1' ? 60_000 : 3_000
/** Milliseconds between two looks. */
const LOOK = 500

const test = suite('a process of one role')

/** Starts `serve` on a folder and resolves when it says that it is ready. */
async function serving(commands: CommandLine, dataDir: string, roles: string): Promise<Started> {
  const started = commands.start(['serve', '--json'], { DATA_DIR: dataDir, ROLES: roles, RATE_LIMIT: '0' })
  await started.line()
  return started
}

async function isRunning({ ended }: Started): Promise<boolean> {
  return Promise.race([ended.then(() => false), pause(0).then(() => true)])
}

test('goes on until it is told to stop: one projects what the other one writes, and each ends with 0', () =>
  withInstallation(async ({ dataDir, annAt }) => {
    const commands = new CommandLine()
    try {
      const projections = await serving(commands, dataDir, 'projections')
      const http = await serving(commands, dataDir, 'http')
      const { url } = JSON.parse(await http.line()) as { url: string }
      const ann = annAt(url)
      const ends = performance.now() + WATCHED
      for (let count = 1; performance.now() < ends; count++) {
        const answer = expect(201, await ann.post('/v4/diamond', stone({ sku: `s-${count}` })))
        assert.is(answer.headers['x-consistency'], undefined, `stone ${count} is not in the lists`)
        const newest = list(expect(200, await ann.get('/v4/diamond?limit=1')))[0]
        assert.is(newest?.id, shown(answer).id)
        assert.ok(await isRunning(projections), 'the process of the projections has ended')
        await pause(LOOK)
      }
      for (const one of [http, projections]) {
        one.kill('SIGTERM')
        const { code, err } = await one.ended
        assert.is(code, 0, err)
      }
    } finally {
      await commands.remove()
    }
  }))

test('that does both goes on, too', () =>
  withInstallation(async ({ dataDir, annAt }) => {
    const commands = new CommandLine()
    try {
      const both = await serving(commands, dataDir, 'http,projections')
      const { url } = JSON.parse(await both.line()) as { url: string }
      await pause(WATCHED)
      const answer = expect(201, await annAt(url).post('/v4/diamond', stone()))
      assert.is(answer.headers['x-consistency'], undefined)
    } finally {
      await commands.remove()
    }
  }))

test('says what it was doing when it ends in the middle of something', async () => {
  const commands = new CommandLine()
  try {
    const started = commands.start(['serve'], { ROLES: 'projections' })
    while (!(await Promise.race([started.ended.then(() => true), pause(100)]))) {
      if (started.said.includes('adamant is ready')) break
    }
    started.kill('SIGTERM')
    started.kill('SIGINT')
    const { code, err } = await started.ended
    assert.is(code, 130)
    assert.match(err, /ended with exit code 130 while it was stopping/)
  } finally {
    await commands.remove()
  }
})

test.run()
