import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

/**
 * Runs the built command line in a process that kills itself after one of the steps that change the disk: STEP=3 is the
 * third step.
 */
const STEP = Number(process.env['STEP'])
let steps = 0

const STEPS = ['copyFileSync', 'linkSync', 'mkdirSync', 'renameSync', 'rmSync'] as const

for (const name of STEPS) {
  const original = fs[name] as (...given: unknown[]) => unknown
  Object.assign(fs, {
    [name]: (...given: unknown[]) => {
      const result = original(...given)
      if (++steps === STEP) process.kill(process.pid, 'SIGKILL')
      return result
    },
  })
}
syncBuiltinESMExports()

const importBuilt = (file: string) => import(new URL(`../../../dist/${file}`, import.meta.url).href)
const { run } = (await importBuilt('cli/program.js')) as typeof import('../../../src/cli/program.ts')
const { openInstallation } = (await importBuilt(
  'wiring/open-installation.js',
)) as typeof import('../../../src/wiring/open-installation.ts')

await run(process.argv.slice(2), openInstallation)
