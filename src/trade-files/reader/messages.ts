import type { UsableLine } from '../findings.ts'
import type { Reading, ReadingRequest } from '../reading.ts'

/** What the reading process gets on stdin, as JSON. */
export type ReadingTask = ReadingRequest & {
  readonly file: string
  /** An existing folder, to which an archive is unpacked. */
  readonly folder: string
}

/** What the reading process prints: one message a line. The last one is `end`, unless the file is refused. */
export type ReadingMessage =
  | { readonly reading: Reading }
  | { readonly lines: readonly UsableLine[] }
  | { readonly end: true }
  | { readonly unreadable: string }
  | {
      readonly unusableOption: {
        readonly option: 'map' | 'mapValue' | 'sheet'
        readonly key?: string
        readonly reason: string
      }
    }
