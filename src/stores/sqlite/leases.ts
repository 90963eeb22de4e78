import { rmSync, statSync, utimesSync } from 'node:fs'
import { FailureDetector } from '../../runtime/failure-detector.ts'
import { lockFile, type FolderLock } from '../folder/lock.ts'
import { StoreUnavailable } from '../ports/event-store.ts'
import { LEASE_HEARTBEAT_INTERVAL_MS, LEASE_TIMINGS, type Lease } from '../ports/read-store.ts'
import { inodeOf, isDamage } from './database-file.ts'

/**
 * Leases as locks of files, which end with their process. The holder touches its file every 500 ms. A process that
 * hangs keeps its lock but stops touching: after 4 s, counted over repeated attempts, another process deletes the file
 * and locks a new one. The file's inode is the fencing token.
 */
export class SqliteLeases {
  readonly #failureDetector = new FailureDetector(LEASE_TIMINGS)
  /** The inodes of the files that this process locked and has not released, whether or not it still holds the leases. */
  readonly #inodes = new Map<string, number>()

  /** @param exclusively runs an action while no other process runs one */
  constructor(private readonly exclusively: <Result>(action: () => Result) => Result) {}

  /** Undefined while another process holds the lease. */
  acquire(file: string): Lease | undefined {
    const [inode, heartbeat] = [inodeOf(file), heartbeatOf(file)]
    const lock = lockUnlessDamaged(file)
    if (lock === 'damaged') return this.#takeOver(file, heartbeat)
    if (lock === undefined) return this.#hasEnded(file, heartbeat) ? this.#takeOver(file, heartbeat) : undefined
    if (inode === undefined || inodeOf(file) === inode) return this.#hold(file, lock)
    // Another process has taken over the lease, and this is the lock of the deleted file.
    lock.release()
    return undefined
  }

  /** @throws StoreUnavailable if another process has taken over the lease that this one acquired last */
  requireNotLost(file: string): void {
    const inode = this.#inodes.get(file)
    if (inode !== undefined && inodeOf(file) !== inode)
      throw new StoreUnavailable(`another process has taken over the lease of ${file}`)
  }

  #hasEnded(file: string, heartbeat: string): boolean {
    const state = this.#failureDetector.observe(file, heartbeat)
    // The holder's heartbeat needs no space on the disk.
    if (state === 'doubted') this.#failureDetector.confirmStoreWritable(file)
    return state === 'ended'
  }

  #takeOver(file: string, heartbeat: string): Lease | undefined {
    return this.exclusively(() => {
      if (heartbeatOf(file) !== heartbeat) return undefined
      rmSync(file, { force: true })
      const lock = lockFile(file, 'exclusive', 0)
      return lock && this.#hold(file, lock)
    })
  }

  #hold(file: string, lock: FolderLock): Lease {
    const inode = inodeOf(file) ?? 0
    const { promise: lost, resolve: markLost } = Promise.withResolvers<void>()
    this.#inodes.set(file, inode)
    const end = () => {
      clearInterval(heartbeat)
      lock.release()
    }
    const heartbeat = setInterval(() => {
      if (inodeOf(file) === inode) return touch(file)
      end()
      markLost()
    }, LEASE_HEARTBEAT_INTERVAL_MS).unref()
    return {
      lost,
      release: async () => {
        if (this.#inodes.get(file) === inode) this.#inodes.delete(file)
        end()
      },
    }
  }
}

function lockUnlessDamaged(file: string): FolderLock | 'damaged' | undefined {
  try {
    return lockFile(file, 'exclusive', 0)
  } catch (error) {
    if (isDamage(error)) return 'damaged'
    throw error
  }
}

function heartbeatOf(file: string): string {
  const { ino, mtimeMs } = statSync(file, { throwIfNoEntry: false }) ?? {}
  return `${ino}/${mtimeMs}`
}

function touch(file: string): void {
  const now = new Date()
  try {
    utimesSync(file, now, now)
  } catch {
    // On a read-only disk no other process can take over either.
  }
}
