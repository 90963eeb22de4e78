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
async function logIn(file: string): Promise<string> {
  const store = openSqliteEventStore(file)
  const identity = await store.identity()
  await store.close()
  return identity
}

test('completes after an interrupted run that had already linked the old log to its new name', () =>
  withFolder(async (folder) => {
    const data = join(folder, 'data')
    mkdirSync(data)
    const [file, backup, kept] = [join(data, 'events.db'), join(folder, 'backup.db'), 'before-7']
    const [old, coming] = [await logIn(file), await logIn(backup)]
    const replacing = await prepareLogReplacement(readSettings({ DATA_DIR: data, LOG_LEVEL: 'silent' }), backup)
    linkSync(file, `${file}.${kept}`)
    try {
      await replacing.replace(kept)
    } finally {
      await replacing.close()
    }
    assert.is(await logIn(file), coming)
    assert.is(await logIn(`${file}.${kept}`), old)
  }))

test('fails if another file has the new name of the old log, and changes nothing', () =>
  withFolder(async (folder) => {
    const data = join(folder, 'data')
    mkdirSync(data)
    const [file, backup, kept] = [join(data, 'events.db'), join(folder, 'backup.db'), 'before-7']
    const [old, , other] = [await logIn(file), await logIn(backup), await logIn(`${file}.${kept}`)]
    const replacing = await prepareLogReplacement(readSettings({ DATA_DIR: data, LOG_LEVEL: 'silent' }), backup)
    const fault = await replacing.replace(kept).catch((thrown: unknown) => thrown)
    await replacing.close()
    assert.match(String(fault), /EEXIST/)
    assert.is(await logIn(file), old)
    assert.is(await logIn(`${file}.${kept}`), other)
  }))

test.run()
