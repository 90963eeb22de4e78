import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { makeBackup } from '../../src/maintenance/backup/backup.ts'
import { Failed } from '../../src/maintenance/operation.ts'
import { replay } from '../../src/maintenance/replay.ts'
import type { Installation } from '../../src/wiring/installation.ts'
import { open } from '../../src/wiring/open-installation.ts'
import { PATIENT, startService } from '../api/harness/service.ts'
import { created } from '../api/harness/stones.ts'
import { rejection } from '../contract/event-store/given.ts'
import { quietOperation } from '../quiet-operation.ts'
import { withFolder } from '../temporary-folder.ts'

const test = suite('a folder that an operation fills')

type Filling = (installation: Installation, folder: string) => Promise<unknown>

const stopped = quietOperation(AbortSignal.abort(new Failed('Stopped')))
const moving = { origin: { actor: 'operator', via: 'cli', correlation: 'a-test' }, clock: Date.now } as const

const FILLINGS: Readonly<Record<string, Filling>> = {
  'a backup': (installation, to) => makeBackup({ ...stopped, installation, to }),
  'a replay': (source, into) =>
    replay({ ...stopped, open, source, into, until: { text: 'now', moment: { time: Date.now() - 1 } }, moving }),
}

for (const [name, fill] of Object.entries(FILLINGS)) {
  test(`is as it was before where ${name} is stopped`, () =>
    withFolder(async (folder) => {
      const service = await startService({ patience: PATIENT })
      try {
        await created(service.ann)
        const [absent, empty] = [join(folder, 'absent'), join(folder, 'empty')]
        mkdirSync(empty)
        for (const into of [absent, empty]) {
          assert.match(String(await rejection(fill(service.installation, into))), /Stopped/)
        }
        assert.not.ok(existsSync(absent))
        assert.equal(readdirSync(empty), [])
      } finally {
        await service.stop()
      }
    }))
}

test.run()
