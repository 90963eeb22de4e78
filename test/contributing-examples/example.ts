import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Replaces a text that occurs in the file exactly once. */
export type Edit = { readonly file: string; readonly find: string; readonly becomes: string }

/** A worked example of CONTRIBUTING.md with its tests, as a contributor who follows the steps writes it. */
export type Example = {
  /** The title of the section in CONTRIBUTING.md. */
  readonly title: string
  /** Its row in the table "How far things reach". */
  readonly row: string
  /** The folder next to this file with the new files, each at its path in the project. */
  readonly folder: string
  readonly edits: readonly Edit[]
  /** The test files that it adds or changes, and those that check generated files. */
  readonly tests: readonly string[]
}

const folderOf = ({ folder }: Example) => fileURLToPath(new URL(`${folder}/`, import.meta.url))

/** The paths of the new files in the project. */
export function newFiles(example: Example): string[] {
  const folder = folderOf(example)
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .toSorted()
}

/** The paths of all new or changed files. */
export const filesOf = (example: Example): string[] => [
  ...new Set([...newFiles(example), ...example.edits.map(({ file }) => file)]),
]

/** The source files among them, which CONTRIBUTING.md counts. */
export const sourcesOf = (example: Example): string[] => filesOf(example).filter((file) => file.startsWith('src/'))

/**
 * Applies an example to a copy of the project.
 * @throws Error if a new file exists already, or if a text to replace does not occur exactly once
 */
export function writeExample(example: Example, project: string): void {
  for (const file of newFiles(example)) {
    const path = join(project, file)
    if (existsSync(path)) throw new Error(`${file} exists already`)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, readFileSync(join(folderOf(example), file)))
  }
  for (const { file, find, becomes } of example.edits) {
    const path = join(project, file)
    const parts = readFileSync(path, 'utf8').split(find)
    if (parts.length !== 2)
      throw new Error(`${file}: must contain this text exactly once, found ${parts.length - 1} times: ${find}`)
    writeFileSync(path, parts.join(becomes))
  }
}
