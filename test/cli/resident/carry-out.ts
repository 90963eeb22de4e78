/**
 * Carries out command lines of the built program, one after another, for resident.ts. A command has the settings
 * and the stdin that it was given, writes to the process's own stdout and stderr, and has ended when nothing of it is left
 * that would keep a process of its own from ending.
 */
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { until } from '../../until.ts'
import { endMark, type CommandRequest } from './end-mark.ts'

const built = (file: string) => import(new URL(`../../../dist/${file}`, import.meta.url).href)
const { run } = (await built('cli/program.js')) as typeof import('../../../src/cli/program.ts')
const { openInstallation } = (await built(
  'wiring/open-installation.js',
)) as typeof import('../../../src/wiring/open-installation.ts')

const { PasswordHasher } = (await built(
  'credentials/password-hasher.js',
)) as typeof import('../../../src/credentials/password-hasher.ts')

/** Of passwords that were hashed before: a hash costs a third of a second, and what it is worth is tested elsewhere. */
const hashes = new Map<string, string>()
const originalHash = PasswordHasher.prototype.hash
PasswordHasher.prototype.hash = async function (password) {
  const hash = hashes.get(password) ?? (await originalHash.call(this, password))
  hashes.set(password, hash)
  return hash
}

// Each command listens for signals, for its reader and for the end.
process.setMaxListeners(0)
process.stdout.setMaxListeners(0)
process.stderr.setMaxListeners(0)

// What comes on its stdin is for this file; a command reads the stream that stands there instead.
for await (const line of createInterface(process.stdin)) await carryOut(JSON.parse(line) as CommandRequest)

async function carryOut({ words, env, input }: CommandRequest): Promise<void> {
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, env)
  const stdin = Readable.from(input === '' ? [] : [Buffer.from(input)], { objectMode: false })
  Object.defineProperty(process, 'stdin', { value: stdin, configurable: true })
  process.exitCode = 0
  const before = countActiveResources()
  await run(words, openInstallation)
  await until('nothing to keep the process', () => countActiveResources() <= before)
  const mark = endMark(Number(process.exitCode))
  process.stderr.write(mark)
  process.stdout.write(mark)
}

/** How much there is that keeps this process from ending. */
function countActiveResources(): number {
  return process.getActiveResourcesInfo().length
}
