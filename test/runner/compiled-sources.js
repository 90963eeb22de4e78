/**
 * Makes Node load the project's TypeScript as compiled by test/runner/compile.ts: `--import THIS?FOLDER`. A module keeps
 * the URL of its source, so that it finds files in the source folder. It works on every thread, and in every process
 * that is started with the same arguments.
 */
import { readFileSync } from 'node:fs'
import * as nodeModule from 'node:module'
import { fileURLToPath } from 'node:url'

const hooks = new URL(`compiled-hooks.js${new URL(import.meta.url).search}`, import.meta.url).href
const { compiledFile, isSource, load, resolve } = await import(hooks)

// Node before 22.15 runs hooks on a separate thread only.
if ('registerHooks' in nodeModule) nodeModule.registerHooks({ resolve, load })
else nodeModule.register(hooks)

/*
 * Errors name source lines. Node's own option reads the source maps of all modules, which takes a quarter of the
 * start-up; here a map is read only when an error names its module.
 */
Error.prepareStackTrace = (error, frames) =>
  [textOf(error), ...frames.map((frame) => `    at ${withSourcePosition(frame)}`)].join('\n')

/** @param {Error} error */
function textOf(error) {
  try {
    return String(error)
  } catch {
    return 'an error that cannot be converted to text'
  }
}

/** @param {NodeJS.CallSite} frame */
function withSourcePosition(frame) {
  const url = frame.getFileName()
  const [line, column] = [frame.getLineNumber(), frame.getColumnNumber()]
  if (!url || !line || !column || !isSource(url)) return String(frame)
  const entry = mapOf(url).findEntry(line - 1, column - 1)
  if (!('originalLine' in entry)) return String(frame)
  const place = `${fileURLToPath(url)}:${entry.originalLine + 1}:${entry.originalColumn + 1}`
  return String(frame).replace(`${url}:${line}:${column}`, () => place)
}

/** @type {Map<string, nodeModule.SourceMap>} */
const maps = new Map()

/** @param {string} url */
function mapOf(url) {
  const map = maps.get(url) ?? new nodeModule.SourceMap(JSON.parse(readFileSync(`${compiledFile(url)}.map`, 'utf8')))
  maps.set(url, map)
  return map
}
