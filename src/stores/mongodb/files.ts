import { GridFSBucket } from 'mongodb'
import type { Files, Listed } from '../ports/files.ts'
import { Touching } from '../touching.ts'
import type { Mongo } from './connection.ts'
import { identityIn } from './identities.ts'
import { fileCalls, type FileCall } from './files/collections.ts'
import { IncomingFile } from './files/incoming.ts'
import { leftoversIn, removeLeftover } from './files/leftovers.ts'
import { markOf, removeFile, removeOlder } from './files/removal.ts'

/** Files in GridFS. Any number of processes may work in one database. */
export function filesIn(mongo: Mongo): Files {
  const call = fileCalls(mongo)
  const bucket = new GridFSBucket(mongo.db)
  const touching = new Touching()
  return {
    identity: () => identityIn(mongo, 'files'),
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
    markOf: async (digest) => markOf(await call(({ files }) => files.find({ filename: digest }).toArray())),
    remove: (digest, mark) => removeFile(call, digest, mark),
    leftovers: () => leftoversIn(call),
    removeLeftover: (leftover) => removeLeftover(call, leftover),
    close: async () => touching.stop(),
  }
}

/** Digests that are read together. */
const PAGE = 500

/** In the order of the digests: the revisions of one come together, and a page's last digest waits for the next page. */
async function* listFiles(call: FileCall): AsyncIterable<Listed> {
  let behind = ''
  for (;;) {
    const filter = { filename: { $gt: behind } }
    const options = { projection: { filename: 1, metadata: 1 }, sort: { filename: 1 }, limit: PAGE } as const
    const page = await call(({ files }) => files.find(filter, options).toArray())
    const revisions = Map.groupBy(page, ({ filename }) => filename)
    const last = page.at(-1)?.filename
    if (last !== undefined && page.length === PAGE && revisions.size > 1) revisions.delete(last)
    for (const [digest, found] of revisions) {
      const mark = markOf(found)
      if (mark !== undefined) yield { digest, mark }
    }
    if (page.length < PAGE) return
    behind = [...revisions.keys()].at(-1) ?? behind
  }
}
