/** Records the bodies of a new version of the diamonds model: `node --import tsx test/events/record-bodies.ts`. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { goldenFile, rendered, type Golden } from './bodies.ts'

const now = rendered()
const before = existsSync(goldenFile) ? (JSON.parse(readFileSync(goldenFile, 'utf8')) as Golden) : undefined
if (before?.version === now.version && JSON.stringify(before) !== JSON.stringify(now)) {
  throw new Error(`the bodies have changed: raise the version of the diamonds model, which is ${now.version}`)
}
writeFileSync(goldenFile, `${JSON.stringify(now, null, 2)}\n`)
