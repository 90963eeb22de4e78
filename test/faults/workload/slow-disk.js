/**
 * Loaded before the service: while the file that `SLOW_DISK` names is there, whatever waits for the disk waits longer, by
 * the milliseconds that stand in it: a commit of SQLite blocks its thread meanwhile, as a disk does, on every thread.
 *
 * JavaScript, since each thread of the service loads it too, and Node 22.14 has no loader for TypeScript there.
 */
import Database from 'better-sqlite3'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const { SLOW_DISK = '' } = process.env
const nobody = new Int32Array(new SharedArrayBuffer(4))

function milliseconds() {
  try {
    return Number(fs.readFileSync(SLOW_DISK, 'utf8'))
  } catch {
    return 0 // It is not there: the disk is as fast as it is.
  }
}

const wait = () => void Atomics.wait(nobody, 0, 0, milliseconds())

const { prepare } = Database.prototype
Database.prototype.prepare = function (sql) {
  const statement = Reflect.apply(prepare, this, [sql])
  if (sql !== 'COMMIT') return statement
  const run = statement.run.bind(statement)
  statement.run = (...given) => {
    wait()
    return run(...given)
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
