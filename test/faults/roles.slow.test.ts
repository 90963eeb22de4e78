import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { CommandLine, type RunningProgram } from '../cli/command-line.ts'
import { expect } from '../api/harness/request.ts'
import { list, shown, stone } from '../api/harness/stones.ts'
import { freeze, thaw } from '../freeze.ts'
import { rounds } from '../rounds.ts'
import { withInstallation } from './serving.ts'

/** Number of stones; each one must be projected by one process before the other responds. */
const STONES = rounds(10, 200)

const test = suite('a process with one role')

/** Starts `serve` on a folder. @returns when it has printed that it is ready */
async function serving(commands: CommandLine, dataDir: string, roles: string): Promise<RunningProgram> {
  const started = commands.start(['serve', '--json'], { DATA_DIR: dataDir, ROLES: roles, RATE_LIMIT: '0' })
  await started.line()
  return started
}

test('runs until SIGTERM and exits with 0, and the other role uses its results', () =>
  withInstallation(async ({ dataDir, annAt }) => {
    const commands = new CommandLine()
    try {
      const projections = await serving(commands, dataDir, 'projections')
      const http = await serving(commands, dataDir, 'http')
      const { url } = JSON.parse(await http.line()) as { url: string }
      const ann = annAt(url)
      for (let count = 1; count <= STONES; count++) {
        const response = expect(201, await ann.post('/v4/diamond', stone({ sku: `s-${count}` })))
        assert.is(response.headers['x-consistency'], undefined, `stone ${count} is not in the lists`)
        const newest = list(expect(200, await ann.get('/v4/diamond?limit=1')))[0]
        assert.is(newest?.id, shown(response).id)
      }
      // A process that ended because it had nothing left to do would exit with 13 (src/cli/process-exit.ts).
      for (const one of [http, projections]) {
        one.kill('SIGTERM')
        const { code, err } = await one.ended
        assert.is(code, 0, err)
      }
    } finally {
      await commands.remove()
    }
  }))

test('reports what it was doing when it is interrupted', async () => {
  const commands = new CommandLine()
  try {
    const started = commands.start(['serve', '--json'], { ROLES: 'projections' })
    const { pid } = JSON.parse(await started.line()) as { pid: number }
    // Both signals arrive before the process can handle the first one.
    await freeze(pid)
    started.kill('SIGTERM')
    started.kill('SIGINT')
    thaw(pid)
    const { code, err } = await started.ended
    assert.is(code, 130)
    assert.match(err, /exited with code 130 while stopping/)
  } finally {
    await commands.remove()
  }
})

test.run()
