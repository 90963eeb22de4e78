// Copies the files that a running service needs to a folder, for images: `node scripts/image-files.js TO`, after `npm run build`. Leaves
// out most files of packages: those for development, other platforms, browsers and documentation.
import { cpSync, readdirSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runtimePackages } from './runtime-packages.js'

const root = fileURLToPath(new URL('../', import.meta.url))

const PROJECT_FILES = [
  'package.json',
  'LICENSE',
  'dist',
  'data/README.md',
  'data/common-passwords.txt',
  'data/diamonds.csv.gz',
]

/** Files that are not read at run time. Licences have other endings. */
const EXCLUDED = /\.(?:map|md|markdown|ts|mts|cts|tsbuildinfo|flow|gyp|html|png|yml)$/i

/** The files kept of some packages; of all other packages, everything but EXCLUDED. */
const INCLUDED = {
  'better-sqlite3': [/^lib\//, new RegExp(`^prebuilds/${process.platform}-${process.arch}\\.node$`)],
  'pdfjs-dist': [/^legacy\/build\/pdf(?:\.worker)?\.mjs$/],
  'swagger-ui-dist': [/^swagger-ui\.css$/, /^swagger-ui-bundle\.js$/, /^absolute-path\.js$/, /^NOTICE$/],
}
const ALWAYS_INCLUDED = /^(?:package\.json|licen[cs]e.*|copying.*|notice.*)$/i

/** Copies the project's files and those of its runtime packages in the lock file. @param to a folder */
export function copyImageFiles(to) {
  for (const path of PROJECT_FILES) cpSync(join(root, path), join(to, path), { recursive: true })
  for (const { path, name, isOptional } of runtimePackages()) {
    if (isOptional || name.startsWith('@types/')) continue
    for (const file of filesIn(join(root, path))) {
      if (isIncluded(name, file)) cpSync(join(root, path, file), join(to, path, file))
    }
  }
}

/** The package's own files, with slashes. Nested packages are separate entries in the lock file. */
function filesIn(folder) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return files
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)).split(sep).join('/'))
    .filter((file) => !file.startsWith('node_modules/'))
}

function isIncluded(name, file) {
  const patterns = INCLUDED[name]
  if (patterns !== undefined && !ALWAYS_INCLUDED.test(file)) return patterns.some((pattern) => pattern.test(file))
  return !EXCLUDED.test(file)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , to] = process.argv
  if (to === undefined) {
    console.error('usage: node scripts/image-files.js TO')
    process.exitCode = 2
  } else copyImageFiles(to)
}
