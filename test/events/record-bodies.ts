/** Records stored documents and response bodies of some diamonds: `node --import tsx test/events/record-bodies.ts`. */
import { existsSync, readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { goldenFile, rendered, type Golden } from './bodies.ts'
import { writeJson } from './write-json.ts'

const now = rendered()
const before = existsSync(goldenFile) ? (JSON.parse(readFileSync(goldenFile, 'utf8')) as Golden) : undefined
const documents: unknown = JSON.parse(JSON.stringify(now.documents))
if (before?.version === now.version && !isDeepStrictEqual(before.documents, documents)) {
  throw new Error(`the documents have changed: raise the version of the diamonds model, which is ${now.version}`)
}
await writeJson(goldenFile, now)
