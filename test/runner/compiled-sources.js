/**
 * Lets Node read the project's TypeScript as test/runner/compile.ts has compiled it: `--import THIS?FOLDER`. A module
 * keeps the address of its source, so that it finds what stands beside it. It works on every thread, and in every process
 * that is started with the same words.
 */
import { readFileSync } from 'node:fs'
import { registerHooks, SourceMap } from 'node:module'
import { fileURLToPath } from 'node:url'

const root = new URL('../../', import.meta.url).href
const compiled = decodeURIComponent(new URL(import.meta.url).search.slice(1))

registerHooks({
  // A source names others as they lie: what Node looks up for each import (links, packages) was a tenth of a start.
  resolve(specifier, context, nextResolve) {
    const { parentURL = '' } = context
    if (!/^\.\.?\/.*\.ts$/.test(specifier) || !isSource(parentURL)) return nextResolve(specifier, context)
    return { url: new URL(specifier, parentURL).href, format: 'module', shortCircuit: true }
  },
  load(url, context, nextLoad) {
    if (!isSource(url)) return nextLoad(url, context)
    return { format: 'module', source: readFileSync(compiledFile(url), 'utf8'), shortCircuit: true }
  },
})

/** @param {string} url */
const isSource = (url) => url.startsWith(root) && url.endsWith('.ts')

/** @param {string} url */
function compiledFile(url) {
  const path = fileURLToPath(url).slice(fileURLToPath(root).length)
  return `${compiled}/${path.slice(0, -'.ts'.length)}.js`
}

/*
 * Errors name source lines. Node would read the maps of all modules, which was a quarter of a start; here a map is read
 * when an error names its module.
 */
Error.prepareStackTrace = (error, frames) =>
  [said(error), ...frames.map((frame) => `    at ${placed(frame)}`)].join('\n')

/** @param {Error} error */
function said(error) {
  try {
    return String(error)
  } catch {
    return 'an error that no text can be made of'
  }
}

/** @param {NodeJS.CallSite} frame */
function placed(frame) {
  const url = frame.getFileName()
  const [line, column] = [frame.getLineNumber(), frame.getColumnNumber()]
  if (!url || !line || !column || !isSource(url)) return String(frame)
  const entry = mapOf(url).findEntry(line - 1, column - 1)
  if (!('originalLine' in entry)) return String(frame)
  const place = `${fileURLToPath(url)}:${entry.originalLine + 1}:${entry.originalColumn + 1}`
  return String(frame).replace(`${url}:${line}:${column}`, () => place)
}

/** @type {Map<string, SourceMap>} */
const maps = new Map()

/** @param {string} url */
function mapOf(url) {
  const map = maps.get(url) ?? new SourceMap(JSON.parse(readFileSync(`${compiledFile(url)}.map`, 'utf8')))
  maps.set(url, map)
  return map
}
