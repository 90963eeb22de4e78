import { posix } from 'node:path'

/** A file's path from the project's root, and its text. */
export type Source = { readonly path: string; readonly text: string }

const IMPORT =
  /(?:import|export)\s+(?:type\s+)?(?:(\{[^}]*\})|\*(?:\s+as\s+\w+)?)\s+from\s+'(\.[^']+)'|import\('(\.[^']+)'\)/g
const EXPORT = /^export (?:async )?(?:abstract )?(?:function\*?|const|class) (\w+)/gm

/**
 * What files of `folder` export and no other file names: functions, constants and classes, as `path: name`. Types may be
 * exported for whoever reads a signature. A file that is imported as a whole counts as named altogether.
 */
export function unnamedExports(sources: readonly Source[], folder: string): string[] {
  const named = new Set(sources.flatMap(namesIn))
  return sources
    .filter(({ path }) => path.startsWith(folder))
    .flatMap(({ path, text }) => [...text.matchAll(EXPORT)].map(([, name]) => ({ path, name })))
    .filter(({ path, name }) => !named.has(`${path}: ${name}`) && !named.has(`${path}: *`))
    .map(({ path, name }) => `${path}: ${name}`)
}

function namesIn({ path, text }: Source): string[] {
  return [...text.matchAll(IMPORT)].flatMap(([, names, from, late]) => {
    const file = posix.join(posix.dirname(path), from ?? late ?? '')
    return (names?.slice(1, -1).split(',') ?? ['*']).map((name) => `${file}: ${plain(name)}`)
  })
}

/** `type A as B` is A. */
const plain = (name: string) =>
  name
    .trim()
    .replace(/^type /, '')
    .replace(/ as \w+$/, '')
