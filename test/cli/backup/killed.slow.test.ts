import { setTimeout as pause } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { attached } from '../../api/harness/form.ts'
import { created, createdMany } from '../../api/harness/stones.ts'
import { expect } from '../../api/harness/request.ts'
import { Site } from './site.ts'

const test = suite('a restore that is killed')

/** Parts of the time that a whole restore takes, at which one is killed. */
const MOMENTS = [0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95]

/** What a command finds: nothing before the restore is run again, else the whole of one log or the other. */
async function foundIn(site: Site): Promise<'refused' | 'old' | 'new'> {
  const { code, out, err } = await site.run(['events'])
  if (code !== 0) {
    assert.match(err, /^adamant: a restore into .* was interrupted: run `npx adamant restore FROM` again/m)
    return 'refused'
  }
  const lines = out.trim().split('\n')
  const has = (text: string) => lines.some((line) => line.includes(text))
  assert.ok(has('"sku":"KEPT"'))
  assert.is(has('"LogRestored"'), !has('"sku":"LATER"'), 'half of one log and half of the other')
  return has('"LogRestored"') ? 'new' : 'old'
}

test('leaves one log or the other, or nothing that serves, and is finished by another run', async () => {
  const site = new Site()
  try {
    const service = await site.serve()
    const { id } = await created(service.ann, { sku: 'KEPT' })
    await createdMany(service.ann, 300)
    for (let file = 0; file < 5; file++) await attached(service.ann, id)
    await site.done(['backup', site.at('b')])
    await created(service.ann, { sku: 'LATER' })
    await service.stop()
    // Into another folder, to see how long one takes.
    const started = performance.now()
    await site.run(['restore', site.at('b')], { DATA_DIR: site.at('c'), MASTER_KEY: site.masterKey() })
    const whole = performance.now() - started

    const seen: string[] = []
    for (const moment of MOMENTS) {
      const restore = site.commands.start(['restore', site.at('b'), '--replace'], { DATA_DIR: site.dataDir })
      await Promise.race([pause(whole * moment), restore.ended])
      restore.kill('SIGKILL')
      await restore.ended
      seen.push(await foundIn(site))
      if (seen.at(-1) === 'new') break
    }
    console.log(`killed after ${MOMENTS.slice(0, seen.length).join(', ')} of the time: ${seen.join(', ')}`)

    await site.done(['restore', site.at('b'), '--replace'])
    assert.is(await foundIn(site), 'new')
    const again = await site.serve()
    expect(200, await again.send({ path: '/health/ready' }))
  } finally {
    await site.close()
  }
})

test.run()
