/** Part of `npm run check`: fails where code, documents or texts use a word of scripts/check-wording/avoided.json. */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { findAvoidedWords, withoutReleased } from './check-wording/wording.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const FOLDERS = ['src', 'docs', 'ops', 'test', 'bench', 'scripts']
const IS_TEXT = /\.(?:ts|js|md|html|css|yml|yaml|json|conf|service|timer)$/
/** Packages, the list of avoided words itself, and files that are generated or looked up rather than read. */
const EXCLUDED = /node_modules|check-wording|^test\/(?:generated|fixtures)\/|^src\/domain\/scoring\/.*\.json$/

const filesIn = (folder: string) =>
  readdirSync(`${ROOT}${folder}`, { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`)
const pages = readdirSync(ROOT).filter((name) => name.endsWith('.md'))
const files = [...pages, ...FOLDERS.flatMap(filesIn)].filter((file) => IS_TEXT.test(file) && !EXCLUDED.test(file))

const findings = files.flatMap((file) => {
  const text = readFileSync(`${ROOT}${file}`, 'utf8')
  const checked = file === 'CHANGELOG.md' ? withoutReleased(text) : text
  return findAvoidedWords(checked, { isCode: /\.[jt]s$/.test(file) }).map((finding) => ({ file, ...finding }))
})
for (const { file, line, found, write } of findings)
  process.stderr.write(`${file}:${line}: "${found}": write ${write}\n`)
if (findings.length > 0) {
  process.stderr.write(`Places with a word of scripts/check-wording/avoided.json: ${findings.length}\n`)
  process.exitCode = 1
}
