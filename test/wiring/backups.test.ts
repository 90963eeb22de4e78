import { linkSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openSqliteEventStore } from '../../src/stores/sqlite/events.ts'
import { prepareLogReplacement } from '../../src/wiring/backups.ts'
import { readSettings } from '../../src/wiring/settings.ts'
import { withFolder } from '../temporary-folder.ts'

const test = suite('the replacement of a log by a backup')

/** Opens the log in a file, creating it if necessary. @returns its identity */
async function identityOfLog(file: string): Promise<string> {
  const store = openSqliteEventStore(file)
  const identity = await store.identity()
  await store.close()
  return identity
}

test('completes after an interrupted run that had already linked the old log to its new name', () =>
  withFolder(async (folder) => {
    const data = join(folder, 'data')
    mkdirSync(data)
    const [file, backup, suffix] = [join(data, 'events.db'), join(folder, 'backup.db'), 'before-7']
    const [old, replacement] = [await identityOfLog(file), await identityOfLog(backup)]
    const replacing = await prepareLogReplacement(readSettings({ DATA_DIR: data, LOG_LEVEL: 'silent' }), backup)
    linkSync(file, `${file}.${suffix}`)
    try {
      await replacing.replace(suffix)
    } finally {
      await replacing.close()
    }
    assert.is(await identityOfLog(file), replacement)
    assert.is(await identityOfLog(`${file}.${suffix}`), old)
  }))

test('fails if another file has the new name of the old log, and changes nothing', () =>
  withFolder(async (folder) => {
    const data = join(folder, 'data')
    mkdirSync(data)
    const [file, backup, suffix] = [join(data, 'events.db'), join(folder, 'backup.db'), 'before-7']
    const [old, , other] = [
      await identityOfLog(file),
      await identityOfLog(backup),
      await identityOfLog(`${file}.${suffix}`),
    ]
    const replacing = await prepareLogReplacement(readSettings({ DATA_DIR: data, LOG_LEVEL: 'silent' }), backup)
    const fault = await replacing.replace(suffix).catch((thrown: unknown) => thrown)
    await replacing.close()
    assert.match(String(fault), /EEXIST/)
    assert.is(await identityOfLog(file), old)
    assert.is(await identityOfLog(`${file}.${suffix}`), other)
  }))

test.run()
