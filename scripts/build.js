// Builds dist/ for `npm ci`, npm's scripts and images, and says in one line why it can't. Like what it imports it is read by
// the Node that npm runs on, which may be as old as 12.
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { broughtNode, linkBroughtNode } from './brought-node.js'
import { putOver, removeFolder } from './put-over.js'

const root = fileURLToPath(new URL('../', import.meta.url))

/** @returns the exit code */
function build() {
  linkBroughtNode()
  const refusal = broughtNode === undefined ? oldNode() : undefined
  if (refusal !== undefined) return tell(refusal)
  if (!hasCompiler()) {
    const why = 'the compiler was left out (--omit=dev, --omit=optional or NODE_ENV=production)'
    if (existsSync(`${root}dist/main.js`)) return tell(`adamant: ${why}, so dist/ stays as it was built before`, 0)
    return tell(
      `adamant is built by its development packages, and ${why}: run npm ci --include=dev --include=optional, ` +
        'then npm prune --omit=dev',
    )
  }
  return compile()
}

/**
 * Into a folder of its own, and from there over dist/ when all is there: services run from dist/, and other builds may be
 * under way. A build that fails leaves dist/ as it was.
 * @returns the exit code
 */
function compile() {
  mkdirSync(`${root}.tmp`, { recursive: true })
  const made = mkdtempSync(`${root}.tmp/build-`)
  try {
    const words = ['-p', `${root}tsconfig.build.json`, '--outDir', made]
    const compiler = `${root}node_modules/typescript/bin/tsc`
    const { status } = spawnSync(broughtNode || process.execPath, [compiler, ...words], { cwd: root, stdio: 'inherit' })
    if (status !== 0) return status === null ? 1 : status
    // tsc leaves out the executable bit of the command, by which `npx adamant` runs right after `npm ci`.
    chmodSync(`${made}/main.js`, 0o755)
    putOver(made, `${root}dist`)
    return 0
  } finally {
    removeFolder(made)
  }
}

/** What to tell somebody whose Node is older than package.json allows. */
function oldNode() {
  const { engines } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))
  const oldest = engines.node.replace('>=', '')
  const [major, minor] = process.versions.node.split('.').map(Number)
  const [oldestMajor, oldestMinor] = oldest.split('.').map(Number)
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return undefined
  return (
    `adamant needs Node ${oldest} or newer, and ${process.execPath} is Node ${process.versions.node}: install a newer ` +
    'one (https://nodejs.org), or leave out --omit=optional, so that npm ci brings one'
  )
}

/** TypeScript's compiler is a program for the platform, in an optional package of its own. */
function hasCompiler() {
  const native = `${root}node_modules/@typescript/typescript-${process.platform}-${process.arch}`
  return existsSync(`${root}node_modules/typescript/bin/tsc`) && existsSync(native)
}

/** @returns the exit code of what can't be used, 2, unless told */
function tell(text, code = 2) {
  console.error(text)
  return code
}

process.exitCode = build()
