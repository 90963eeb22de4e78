/**
 * Runs command lines of the built program for resident.ts, one at a time. A command gets its own environment and stdin and
 * writes to the stdout and stderr of this process. It has ended when it has left no active handles, which would keep a
 * separate process alive.
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

/** Hashes by password: computing one takes a third of a second, and hashing is tested elsewhere. */
const hashes = new Map<string, string>()
const originalHash = PasswordHasher.prototype.hash
PasswordHasher.prototype.hash = async function (password) {
  const hash = hashes.get(password) ?? (await originalHash.call(this, password))
  hashes.set(password, hash)
  return hash
}

// Each command adds listeners for signals, for a closed output and for the exit.
process.setMaxListeners(0)
process.stdout.setMaxListeners(0)
process.stderr.setMaxListeners(0)

// This file reads the real stdin; a command reads the stream that replaces process.stdin.
for await (const line of createInterface(process.stdin)) await carryOut(JSON.parse(line) as CommandRequest)

async function carryOut({ words, env, input }: CommandRequest): Promise<void> {
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, env)
  const stdin = Readable.from(input === '' ? [] : [Buffer.from(input)], { objectMode: false })
  Object.defineProperty(process, 'stdin', { value: stdin, configurable: true })
  process.exitCode = 0
  const before = countActiveResources()
  await run(words, openInstallation)
  await until('the command to leave no active handles', () => countActiveResources() <= before)
  const mark = endMark(Number(process.exitCode))
  process.stderr.write(mark)
  process.stdout.write(mark)
}

/** The number of resources that keep this process alive. */
function countActiveResources(): number {
  return process.getActiveResourcesInfo().length
}
