import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Puts a text in the place of another one, which stands in the file once. */
export type Edit = { readonly file: string; readonly find: string; readonly becomes: string }

/** One of CONTRIBUTING.md's worked examples, as somebody who follows its steps writes it, with its tests. */
export type Example = {
  /** The section's title in CONTRIBUTING.md. */
  readonly title: string
  /** Its row in the table of "How far things reach". */
  readonly row: string
  /** The folder beside this file that has its new files, each at the path that it gets in the project. */
  readonly folder: string
  readonly edits: readonly Edit[]
  /** The test files that it adds or changes, and those that hold what it has written anew. */
  readonly tests: readonly string[]
}

const folderOf = ({ folder }: Example) => fileURLToPath(new URL(`${folder}/`, import.meta.url))

/** The paths of its new files in the project. */
export function newFiles(example: Example): string[] {
  const folder = folderOf(example)
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .toSorted()
}

/** The paths of all files that it writes or changes. */
export const filesOf = (example: Example): string[] => [
  ...new Set([...newFiles(example), ...example.edits.map(({ file }) => file)]),
]

/** The sources among them, which CONTRIBUTING.md counts. */
export const sourcesOf = (example: Example): string[] => filesOf(example).filter((file) => file.startsWith('src/'))

/**
 * Writes an example into a copy of the project.
 * @throws Error where a new file is there already, or a text to be replaced is not there exactly once
 */
export function writeExample(example: Example, project: string): void {
  for (const file of newFiles(example)) {
    const path = join(project, file)
    if (existsSync(path)) throw new Error(`${file} is there already`)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, readFileSync(join(folderOf(example), file)))
  }
  for (const { file, find, becomes } of example.edits) {
    const path = join(project, file)
    const parts = readFileSync(path, 'utf8').split(find)
    if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} of: ${find}`)
    writeFileSync(path, parts.join(becomes))
  }
}
