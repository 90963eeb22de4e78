import { GridFSBucket } from 'mongodb'
import type { Files, Listed } from '../files.ts'
import { Touching } from '../touching.ts'
import type { Mongo } from './connection.ts'
import { fileCalls, type FileCall } from './files/collections.ts'
import { IncomingFile } from './files/incoming.ts'
import { removeFile, removeLeftovers, removeOlder } from './files/removal.ts'

/** Files in GridFS. Any number of processes may work in one database. */
export function filesIn(mongo: Mongo): Files {
  const call = fileCalls(mongo)
  const bucket = new GridFSBucket(mongo.db)
  const touching = new Touching()
  return {
    async receive() {
      const incoming = await IncomingFile.begin(call, touching)
      return {
        write: (chunk) => incoming.write(chunk),
        discard: () => incoming.discard(),
        async keep() {
          const kept = await incoming.keep()
          // What stays twice for now is removed with the next upload of the same bytes, or with the file.
          await removeOlder(call, kept.digest).catch(() => undefined)
          return kept
        },
      }
    },
    async read(digest, range) {
      const newest = await call(({ files }) =>
        files.findOne({ filename: digest }, { sort: { uploadDate: -1, _id: -1 } }),
      )
      if (newest === null) return undefined
      // The end of a range is one behind its last byte here.
      const part = range && { start: range.start, end: range.end + 1 }
      return bucket.openDownloadStream(newest._id, part)
    },
    list: () => listFiles(call),
    remove: (digest, before) => removeFile(call, digest, before),
    removeLeftovers: (before) => removeLeftovers(call, before),
    close: async () => touching.stop(),
  }
}

/** Digests that are read together. */
const PAGE = 500

/** In the order of the digests, so that revisions of one come together. */
async function* listFiles(call: FileCall): AsyncIterable<Listed> {
  let behind = ''
  for (;;) {
    const filter = { filename: { $gt: behind } }
    const options = { projection: { filename: 1, metadata: 1 }, sort: { filename: 1 }, limit: PAGE } as const
    const page = await call(({ files }) => files.find(filter, options).toArray())
    const touched = new Map<string, number>()
    for (const { filename, metadata } of page) {
      touched.set(filename, Math.max(metadata.touched, touched.get(filename) ?? 0))
    }
    for (const [digest, at] of touched) yield { digest, touched: at }
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) return
    behind = last.filename
  }
}
