/** Records what is stored and answered of some diamonds: `node --import tsx test/events/record-bodies.ts`. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { goldenFile, rendered, type Golden } from './bodies.ts'

const now = rendered()
const before = existsSync(goldenFile) ? (JSON.parse(readFileSync(goldenFile, 'utf8')) as Golden) : undefined
if (before?.version === now.version && JSON.stringify(before.documents) !== JSON.stringify(now.documents)) {
  throw new Error(`the documents have changed: raise the version of the diamonds model, which is ${now.version}`)
}
writeFileSync(goldenFile, `${JSON.stringify(now, null, 2)}\n`)
