/**
 * How Node finds and reads the project's TypeScript as test/runner/compile.ts has compiled it into the folder that this
 * module's address names: `THIS?FOLDER`. They do for hooks of either kind, on the module's own thread and on another one.
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = new URL('../../', import.meta.url).href
const compiled = decodeURIComponent(new URL(import.meta.url).search.slice(1))

/**
 * A source names others as they lie: what Node looks up for each import (links, packages) was a tenth of a start.
 * @type {import('node:module').ResolveHookSync & import('node:module').ResolveHook}
 */
export function resolve(specifier, context, nextResolve) {
  const { parentURL = '' } = context
  if (!/^\.\.?\/.*\.ts$/.test(specifier) || !isSource(parentURL)) return nextResolve(specifier, context)
  return { url: new URL(specifier, parentURL).href, format: 'module', shortCircuit: true }
}

/** @type {import('node:module').LoadHookSync & import('node:module').LoadHook} */
export function load(url, context, nextLoad) {
  if (!isSource(url)) return nextLoad(url, context)
  return { format: 'module', source: readFileSync(compiledFile(url), 'utf8'), shortCircuit: true }
}

/** @param {string} url */
export const isSource = (url) => url.startsWith(root) && url.endsWith('.ts')

/** @param {string} url */
export function compiledFile(url) {
  const path = fileURLToPath(url).slice(fileURLToPath(root).length)
  return `${compiled}/${path.slice(0, -'.ts'.length)}.js`
}
