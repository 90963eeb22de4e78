/**
 * Lets Node read the project's TypeScript as test/runner/compile.ts has compiled it: `--import THIS?FOLDER`. A module
 * keeps the address of its source, so that it finds what stands beside it. It works on every thread, and in every process
 * that is started with the same words.
 */
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'

const root = new URL('../../', import.meta.url).href
const compiled = decodeURIComponent(new URL(import.meta.url).search.slice(1))

process.setSourceMapsEnabled(true)
registerHooks({
  load(url, context, nextLoad) {
    if (!url.startsWith(root) || !url.endsWith('.ts')) return nextLoad(url, context)
    const path = fileURLToPath(url).slice(fileURLToPath(root).length)
    const source = readFileSync(`${compiled}/${path.slice(0, -'.ts'.length)}.js`, 'utf8')
    return { format: 'module', source, shortCircuit: true }
  },
})
