import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Bits by which others than the owner may read, write or enter. */
const OTHERS = 0o077

/** What an installation keeps in its folder, SQLite's own files beside a database too. */
const OURS = /^(master\.key|.*\.db(-wal|-shm|\.version-\d+)?|outbox|files)$/

/**
 * Names the files of an installation that other users of this machine may read: made by an older release, copied by hand or
 * restored. New ones are for their owner alone. On Windows modes say nothing.
 * @returns a sentence for the log, with the command that mends it; undefined where all is well
 */
export function readableByOthers(dataDir: string): string | undefined {
  if (process.platform === 'win32' || !isFolder(dataDir)) return undefined
  const readable = readdirSync(dataDir).filter((name) => OURS.test(name) && isReadable(join(dataDir, name)))
  if (readable.length === 0) return undefined
  return `other users of this machine may read ${readable.join(', ')} in ${dataDir}: chmod -R go= ${dataDir}`
}

/** Whatever is wrong with the path itself is for whoever opens it to say. */
function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}

function isReadable(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats !== undefined && (stats.mode & OTHERS) !== 0
}
