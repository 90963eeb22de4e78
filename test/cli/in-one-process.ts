/**
 * Runs command lines of the built program in turn in one process, where what a start costs is not what is tested:
 * `node ... in-one-process.ts '[["user","list"],["status"]]'` prints how each ended, as JSON.
 */
import type { Ended } from './command-line.ts'

const built = (file: string) => import(new URL(`../../dist/${file}`, import.meta.url).href)
const { run } = (await built('cli/program.js')) as typeof import('../../src/cli/program.ts')
const { open } = (await built('wiring/open-installation.js')) as typeof import('../../src/wiring/open-installation.ts')
const { backups } = (await built('wiring/backups.js')) as typeof import('../../src/wiring/backups.ts')

const print = process.stdout.write.bind(process.stdout)
process.setMaxListeners(0)
process.stdout.setMaxListeners(0)

const ended: Ended[] = []
for (const words of JSON.parse(process.argv[2] ?? '[]') as readonly (readonly string[])[]) {
  const said = { out: '', err: '' }
  process.stdout.write = (text) => ((said.out += String(text)), true)
  process.stderr.write = (text) => ((said.err += String(text)), true)
  process.exitCode = 0
  await run(words, open, backups)
  ended.push({ code: Number(process.exitCode), ...said })
}
process.exitCode = 0
print(JSON.stringify(ended))
