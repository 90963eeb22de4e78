import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { z } from 'zod'
import { storedCheckpoint, toJson } from '../checkpoint-json.ts'
import { codeOf } from './directory-layout.ts'
import type { LogHighWaterMark, HighWaterMarkStore } from '../ports/high-water-mark.ts'

const schema = storedCheckpoint.pick({ log: true, event: true }).extend({
  fence: z.object({ copy: z.string(), to: z.string() }).nullable(),
})

/** Its name in DATA_DIR. */
export const HIGH_WATER_MARK_FILE = 'seen.json'

/** Stored in one small file, replaced by a rename. It is not synced: after a power failure, an older mark may remain. */
export const openHighWaterMarkFile = (file: string): HighWaterMarkStore => ({
  read() {
    const text = readIfExists(file)
    return text === undefined ? undefined : schema.safeParse(parseJson(text)).data
  },
  save(highWaterMark: LogHighWaterMark) {
    const draft = `${file}.${process.pid}.part`
    writeFileSync(draft, toJson(highWaterMark), { mode: 0o600 })
    renameSync(draft, file)
  },
})

function readIfExists(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Ignore a truncated file: the checkpoints of the read models and of the vault are checked as well.
    return undefined
  }
}
