import { posix } from 'node:path'

/** A file's path, relative to the project's root, and its text. */
export type Source = { readonly path: string; readonly text: string }

const IMPORT =
  /(?:import|export)\s+(?:type\s+)?(?:(\{[^}]*\})|\*(?:\s+as\s+\w+)?)\s+from\s+'(\.[^']+)'|import\('(\.[^']+)'\)/g
const EXPORTED = /^export (?:async )?(?:abstract )?(?:function\*?|const|class|type|interface) (\w+)/gm

/**
 * Functions, constants, classes and types that files of `folder` export and no other file imports, as `path: name`. A namespace
 * or dynamic import counts as an import of all names.
 */
export function unusedExports(sources: readonly Source[], folder: string): string[] {
  const named = new Set(sources.flatMap(importedNames))
  return sources
    .filter(({ path }) => path.startsWith(folder))
    .flatMap(({ path, text }) => exportedNames(text).map(({ name }) => ({ path, name })))
    .filter(({ path, name }) => !named.has(`${path}: ${name}`) && !named.has(`${path}: *`))
    .map(({ path, name }) => `${path}: ${name}`)
}

/** The functions, constants, classes and types that a file exports by their declarations, and where each stands in the text. */
export const exportedNames = (text: string): { readonly name: string; readonly index: number }[] =>
  [...text.matchAll(EXPORTED)].map(({ 1: name = '', index }) => ({ name, index }))

export function importedNames({ path, text }: Source): string[] {
  return [...text.matchAll(IMPORT)].flatMap(([, names, from, late]) => {
    const file = posix.join(posix.dirname(path), from ?? late ?? '')
    return (names?.slice(1, -1).split(',') ?? ['*']).map((name) => `${file}: ${plain(name)}`)
  })
}

/** The exported name: A for `type A as B`. */
const plain = (name: string) =>
  name
    .trim()
    .replace(/^type /, '')
    .replace(/ as \w+$/, '')
