import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { suite, type Test } from 'uvu'
import {
  openSqliteEventStore,
  type SqliteEventStore,
  type SqliteEventStoreOptions,
} from '../../../../src/stores/sqlite/events.ts'
import { temporaryFolder } from '../../temporary-log.ts'

export type Given = {
  readonly file: string
  /** Opens the file, and closes it after the test. */
  readonly open: (options?: SqliteEventStoreOptions) => SqliteEventStore
}

/** A suite in which each test has its own file, in a folder that is deleted after the test. */
export function suiteOnFile(name: string): Test<Given> {
  const test = suite<Given>(name)
  let folder = ''
  let opened: SqliteEventStore[] = []
  test.before.each((given) => {
    folder = temporaryFolder()
    opened = []
    const file = join(folder, 'events.db')
    const open = (options?: SqliteEventStoreOptions) => {
      const store = openSqliteEventStore(file, options)
      opened.push(store)
      return store
    }
    Object.assign(given, { file, open })
  })
  test.after.each(async () => {
    await Promise.all(opened.map((store) => store.close()))
    rmSync(folder, { recursive: true, force: true })
  })
  return test
}
