/**
 * Module hooks that load the project's TypeScript as compiled by test/runner/compile.ts. This module's URL names the
 * folder: `THIS?FOLDER`. They work as synchronous hooks and as hooks on a separate thread.
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = new URL('../../', import.meta.url).href
const compiled = decodeURIComponent(new URL(import.meta.url).search.slice(1))

/**
 * A source imports others by their exact path. Skipping Node's own resolution (links, packages) saves 10% of the start-up.
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
