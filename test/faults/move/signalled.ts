import type { Installation } from '../../../src/wiring/installation.ts'
import type { FileStore } from '../../../src/stores/ports/file-store.ts'

/**
 * Runs the built command line in a process that sends itself SIGNAL after a call of its stores: AT=target.vault.restore/2 is the
 * second call of that method. It prints a line first, because a stopped process cannot.
 */
const { AT = '', SIGNAL = 'SIGKILL' } = process.env
const [call, nth] = AT.split('/')
let calls = 0

function passed(name: string): void {
  if (name !== call || ++calls !== Number(nth)) return
  process.stdout.write(`${SIGNAL} behind ${AT}\n`)
  process.kill(process.pid, SIGNAL)
}

/** Wraps a port and counts its completed calls. */
function watched<Port extends object>(name: string, port: Port): Port {
  return new Proxy(port, {
    get(target, key) {
      const found: unknown = Reflect.get(target, key)
      if (typeof found !== 'function') return found
      return (...args: unknown[]) => {
        const result: unknown = Reflect.apply(found, target, args)
        if (!(result instanceof Promise)) return result
        return result.then((value: unknown) => {
          passed(`${name}.${String(key)}`)
          return value
        })
      }
    },
  })
}

const watchedFiles = (name: string, files: FileStore): FileStore =>
  watched(name, { ...files, receive: async () => watched(`${name}.incoming`, await files.receive()) })

function watchedIn(name: string, installation: Installation): Installation {
  const { store, vault, reads, files } = installation
  return {
    ...installation,
    store: watched(`${name}.store`, store),
    vault: watched(`${name}.vault`, vault),
    reads: watched(`${name}.reads`, reads),
    files: watchedFiles(`${name}.files`, files),
  }
}

const built = (file: string) => import(new URL(`../../../dist/${file}`, import.meta.url).href)
const { run } = (await built('cli/program.js')) as typeof import('../../../src/cli/program.ts')
const { openInstallation } = (await built(
  'wiring/open-installation.js',
)) as typeof import('../../../src/wiring/open-installation.ts')

await run(process.argv.slice(2), async (settings, purpose) =>
  watchedIn(purpose === 'filled' ? 'target' : 'source', await openInstallation(settings, purpose)),
)
