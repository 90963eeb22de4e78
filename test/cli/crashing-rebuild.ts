/** Runs the built command line in a process that kills itself after it has written a batch of a rebuild. */
import type { ReadModelBuild } from '../../src/stores/ports/read-store.ts'

function killAfterFirstWrite(build: ReadModelBuild): ReadModelBuild {
  return new Proxy(build, {
    get(target, key) {
      const found: unknown = Reflect.get(target, key)
      if (typeof found !== 'function') return found
      return async (...given: unknown[]) => {
        const result: unknown = await Reflect.apply(found, target, given)
        if (key === 'write') process.kill(process.pid, 'SIGKILL')
        return result
      }
    },
  })
}

const built = (file: string) => import(new URL(`../../dist/${file}`, import.meta.url).href)
const { run } = (await built('cli/program.js')) as typeof import('../../src/cli/program.ts')
const { openInstallation } = (await built(
  'wiring/open-installation.js',
)) as typeof import('../../src/wiring/open-installation.ts')

await run(process.argv.slice(2), async (settings, purpose) => {
  const installation = await openInstallation(settings, purpose)
  const { reads } = installation
  return {
    ...installation,
    reads: {
      ...reads,
      beginPendingBuild: async (...given) => killAfterFirstWrite(await reads.beginPendingBuild(...given)),
    },
  }
})
