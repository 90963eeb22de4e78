import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { attached } from '../../api/harness/form.ts'
import { created, createdMany } from '../../api/harness/stones.ts'
import { expect } from '../../api/harness/request.ts'
import { FROM_SOURCE } from '../../from-source.ts'
import { TemporaryInstallation } from './temporary-installation.ts'

const test = suite('a restore that is killed at any step')

const CRASHING_RESTORE = fileURLToPath(new URL('crashing-restore.ts', import.meta.url))

/** Runs a restore that is killed after its `step`-th step. @returns whether it completed with fewer steps */
async function completesBefore(step: number, installation: TemporaryInstallation): Promise<boolean> {
  const settings = { DATA_DIR: installation.dataDir, STEP: String(step) }
  const words = ['restore', installation.pathOf('b'), '--replace']
  const { code, err } = await installation.commands.start(words, settings, [...FROM_SOURCE, CRASHING_RESTORE]).ended
  if (code !== null) assert.is(code, 0, err)
  return code === 0
}

/** The state that a command finds: it is refused until the restore is run again, or the whole old or new log is there. */
async function logStateOf(installation: TemporaryInstallation): Promise<'refused' | 'old' | 'new'> {
  const { code, out, err } = await installation.run(['events'])
  if (code !== 0) {
    assert.match(err, /^adamant: a restore into .* was interrupted: run `adamant restore FROM` again/m)
    return 'refused'
  }
  const lines = out.trim().split('\n')
  const has = (text: string) => lines.some((line) => line.includes(text))
  assert.ok(has('"sku":"KEPT"'))
  assert.is(has('"LogRestored"'), !has('"sku":"LATER"'), 'the log is a mix of the old and the new one')
  return has('"LogRestored"') ? 'new' : 'old'
}

test('leaves the old log, the new log or an installation that refuses to open, and another run completes it', async () => {
  const installation = new TemporaryInstallation()
  try {
    const service = await installation.serve()
    const { id } = await created(service.ann, { sku: 'KEPT' })
    await createdMany(service.ann, 30)
    await attached(service.ann, id)
    await installation.json(['backup', installation.pathOf('b')])
    await created(service.ann, { sku: 'LATER' })
    await service.stop()

    const seen: string[] = []
    for (let step = 1; !(await completesBefore(step, installation)); step++) seen.push(await logStateOf(installation))
    // In this order: before the first change, during the restore, and after its completion.
    assert.equal([...new Set(seen)], ['old', 'refused', 'new'], seen.join())

    assert.is(await logStateOf(installation), 'new')
    const restarted = await installation.serve()
    expect(200, await restarted.send({ path: '/health/ready' }))
  } finally {
    await installation.close()
  }
})

test.run()
