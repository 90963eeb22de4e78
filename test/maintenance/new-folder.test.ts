import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { makeBackup } from '../../src/maintenance/backup/backup.ts'
import { OperationFailure } from '../../src/maintenance/operation.ts'
import { replay } from '../../src/maintenance/replay.ts'
import type { Installation } from '../../src/wiring/installation.ts'
import { openInstallation } from '../../src/wiring/open-installation.ts'
import { GENEROUS_TIMEOUT_MS, startService } from '../api/harness/service.ts'
import { created } from '../api/harness/stones.ts'
import { rejection } from '../contract/event-store/given.ts'
import { quietOperation } from '../quiet-operation.ts'
import { withFolder } from '../temporary-folder.ts'

const test = suite('the target folder of an operation')

const FIRST = { position: { commit: 1n, prepare: 1n } }

type FolderOperation = (installation: Installation, folder: string) => Promise<unknown>

const stopped = quietOperation(AbortSignal.abort(new OperationFailure('Stopped')))
const moveContext = {
  origin: { actor: 'operator', via: 'cli', correlation: 'a-test' },
  clock: () => 1_795_000_000_000,
} as const

const OPERATIONS: Readonly<Record<string, FolderOperation>> = {
  'a backup': (installation, to) => makeBackup({ ...stopped, installation, folder: to }),
  'a replay': (source, into) =>
    replay({
      ...stopped,
      open: openInstallation,
      source,
      into,
      until: { text: 'position 1', cutoff: FIRST },
      moveContext,
    }),
}

for (const [name, fill] of Object.entries(OPERATIONS)) {
  test(`is left unchanged if ${name} is stopped`, () =>
    withFolder(async (folder) => {
      const service = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS })
      try {
        await created(service.ann)
        const [absent, empty] = [join(folder, 'absent'), join(folder, 'empty')]
        // A backup's disk may be mounted there.
        mkdirSync(join(empty, 'lost+found'), { recursive: true })
        for (const into of [absent, empty]) {
          assert.match(String(await rejection(fill(service.installation, into))), /Stopped/)
        }
        assert.not.ok(existsSync(absent))
        writeFileSync(join(folder, 'kept'), 'not part of the backup')
        assert.match(String(await rejection(fill(service.installation, folder))), /is not empty/)
        assert.equal(readdirSync(folder).toSorted(), ['empty', 'kept'])
        assert.equal(readdirSync(empty), ['lost+found'])
      } finally {
        await service.stop()
      }
    }))
}

test.run()
