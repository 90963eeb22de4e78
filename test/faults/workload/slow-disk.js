/**
 * Imported before the service. While the file named by `SLOW_DISK` exists, each wait for the disk takes longer, by the number of
 * milliseconds in the file. SQLite commits block their thread meanwhile, as with a slow disk.
 *
 * This is JavaScript because each thread of the service loads it too, where Node 22.14 has no TypeScript loader.
 */
import Database from 'better-sqlite3'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const { SLOW_DISK = '' } = process.env
const neverNotified = new Int32Array(new SharedArrayBuffer(4))

function milliseconds() {
  try {
    return Number(fs.readFileSync(SLOW_DISK, 'utf8'))
  } catch {
    return 0 // Without the file there is no delay.
  }
}

const wait = () => void Atomics.wait(neverNotified, 0, 0, milliseconds())

const { prepare } = Database.prototype
Database.prototype.prepare = function (sql) {
  const statement = Reflect.apply(prepare, this, [sql])
  if (sql !== 'COMMIT') return statement
  const run = statement.run.bind(statement)
  statement.run = (...args) => {
    wait()
    return run(...args)
  }
  return statement
}

const later = fs.fdatasync
fs.fdatasync = Object.assign((file, done) => void setTimeout(() => later(file, done), milliseconds()), later)
for (const name of ['fsyncSync', 'fdatasyncSync']) {
  const now = fs[name]
  fs[name] = (file) => {
    wait()
    now(file)
  }
}
syncBuiltinESMExports()
