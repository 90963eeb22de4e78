import { StoreUnavailable } from '../../ports/event-store.ts'
import type { LogFile } from './connection.ts'

/** Bytes of a write that takes new pages as a stone does; a smaller one might fit into what the file has left. */
const PROBE = 32_768

/** Whether the log's disk refuses writes: known from the last one, and from trying again where that failed. */
export class Refusing {
  #failed = false

  constructor(private readonly log: LogFile) {}

  wrote(): void {
    this.#failed = false
  }

  /** Of a write that failed for another reason than somebody else's lock. */
  failed(): void {
    this.#failed = true
  }

  /** Why writes are refused at this moment; undefined where they are not. Writes only where the last one failed. */
  now(): string | undefined {
    if (!this.#failed) return undefined
    try {
      this.log.use((connection) => {
        connection.begin.run()
        // The table is gone again with the same commit; what stays are some free pages, which the next events take.
        connection.db.exec(`CREATE TABLE room (x); INSERT INTO room VALUES (zeroblob(${PROBE})); DROP TABLE room`)
        this.log.commit(connection)
      })
      this.#failed = false
      return undefined
    } catch (error) {
      return error instanceof StoreUnavailable ? error.message : String(error)
    }
  }
}
