// Builds dist/ for `npm ci`, npm scripts and images, and explains a failure in one line. This file and its imports must run on the Node
// that npm runs on, from version 12.
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { linkCommand, linkPackagedNode, packagedNode } from './packaged-node.js'
import { replaceFolder, removeFolder } from './replace-folder.js'

const root = fileURLToPath(new URL('../', import.meta.url))

function build() {
  linkPackagedNode()
  const message = packagedNode === undefined ? nodeTooOldMessage() : undefined
  if (message !== undefined) return report(message)
  if (!hasCompiler()) {
    const reason = 'the compiler was left out (--omit=dev, --omit=optional or NODE_ENV=production)'
    if (existsSync(`${root}dist/main.js`)) return report(`adamant: ${reason}, so dist/ keeps its previous build`, 0)
    return report(
      `adamant cannot be built: ${reason}: run npm ci --include=dev --include=optional, then npm prune --omit=dev`,
    )
  }
  return compile()
}

/**
 * Compiles into a temporary folder, and moves the result over dist/ when it is complete: services may run from dist/, and other builds may
 * be running. A failed build leaves dist/ unchanged.
 * @returns the exit code
 */
function compile() {
  mkdirSync(`${root}.tmp`, { recursive: true })
  const output = mkdtempSync(`${root}.tmp/build-`)
  try {
    const options = ['-p', `${root}tsconfig.build.json`, '--outDir', output]
    const compiler = `${root}node_modules/typescript/bin/tsc`
    const { status } = spawnSync(packagedNode || process.execPath, [compiler, ...options], {
      cwd: root,
      stdio: 'inherit',
    })
    if (status !== 0) return status === null ? 1 : status
    // tsc does not set the executable bit, which the link needs.
    chmodSync(`${output}/main.js`, 0o755)
    replaceFolder(output, `${root}dist`)
    linkCommand('adamant', 'dist/main.js')
    return 0
  } finally {
    removeFolder(output)
  }
}

/** An error message if this Node is older than package.json requires. */
function nodeTooOldMessage() {
  const { engines } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))
  const oldest = engines.node.replace('>=', '')
  const [major, minor] = process.versions.node.split('.').map(Number)
  const [oldestMajor, oldestMinor] = oldest.split('.').map(Number)
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return undefined
  return (
    `adamant needs Node ${oldest} or newer, and ${process.execPath} is Node ${process.versions.node}: install a newer ` +
    'one (https://nodejs.org), or run npm ci without --omit=optional, which installs one'
  )
}

/** TypeScript's compiler is a native program in a separate optional package per platform. */
function hasCompiler() {
  const native = `${root}node_modules/@typescript/typescript-${process.platform}-${process.arch}`
  return existsSync(`${root}node_modules/typescript/bin/tsc`) && existsSync(native)
}

/** @returns the exit code, 2 by default */
function report(text, code = 2) {
  console.error(text)
  return code
}

process.exitCode = build()
