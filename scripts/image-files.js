// Copies what a running service reads to a folder, for images: `node scripts/image-files.js TO`, behind `npm run build`.
// What packages bring for development, other machines, browsers and people stays behind: most of it.
import { cpSync, readdirSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { servedPackages } from './served-packages.js'

const root = fileURLToPath(new URL('../', import.meta.url))

/** The service's own: all but the packages. */
const OWN = ['package.json', 'LICENSE', 'dist', 'data/README.md', 'data/common-passwords.txt', 'data/diamonds.csv.gz']

/** Files that no program reads, by how they end. Licences have other ends. */
const NOT_READ = /\.(?:map|md|markdown|ts|mts|cts|tsbuildinfo|flow|gyp|html|png|yml)$/i

/** Of single packages: what is kept of them, as the service loads it; everything of all others. */
const KEPT = {
  'better-sqlite3': [/^lib\//, new RegExp(`^prebuilds/${process.platform}-${process.arch}\\.node$`)],
  'pdfjs-dist': [/^legacy\/build\/pdf(?:\.worker)?\.mjs$/],
  'swagger-ui-dist': [/^swagger-ui\.css$/, /^swagger-ui-bundle\.js$/, /^absolute-path\.js$/, /^NOTICE$/],
}
const ALWAYS = /^(?:package\.json|licen[cs]e.*|copying.*|notice.*)$/i

/** Copies the files of the service, and of the packages that it stands on as the lock file has them. @param to a folder */
export function copyImageFiles(to) {
  for (const path of OWN) cpSync(join(root, path), join(to, path), { recursive: true })
  for (const { path, name, isOptional } of servedPackages()) {
    if (isOptional || name.startsWith('@types/')) continue
    for (const file of filesIn(join(root, path))) {
      if (isRead(name, file)) cpSync(join(root, path, file), join(to, path, file))
    }
  }
}

/** The package's own files, with slashes: packages inside it are named by the lock file too. */
function filesIn(folder) {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return found
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)).split(sep).join('/'))
    .filter((file) => !file.startsWith('node_modules/'))
}

function isRead(name, file) {
  const kept = KEPT[name]
  if (kept !== undefined && !ALWAYS.test(file)) return kept.some((one) => one.test(file))
  return !NOT_READ.test(file)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , to] = process.argv
  if (to === undefined) {
    console.error('image-files.js needs the folder to copy to')
    process.exitCode = 2
  } else copyImageFiles(to)
}
