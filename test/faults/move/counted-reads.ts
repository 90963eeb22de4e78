import type { Installation } from '../../../src/wiring/installation.ts'
import type { EventStore } from '../../../src/stores/ports/event-store.ts'
import type { FileStore } from '../../../src/stores/ports/file-store.ts'

/** The numbers of events and files that were read. */
export type CountedReads = Record<'source' | 'target', { events: number; files: number }>

/** Runs the built command line, counts what it reads after it fenced its source, and prints the counts as its last line. */
const counts: CountedReads = { source: { events: 0, files: 0 }, target: { events: 0, files: 0 } }

function countedLog(end: keyof CountedReads, store: EventStore): EventStore {
  return {
    ...store,
    async *readAll(...args) {
      for await (const event of store.readAll(...args)) {
        counts[end].events++
        yield event
      }
    },
    async append(stream, expected, events) {
      const position = await store.append(stream, expected, events)
      if (end === 'source' && events.some(({ type }) => type === 'LogFenced')) resetCounts()
      return position
    },
  }
}

function resetCounts(): void {
  for (const count of Object.values(counts)) count.events = count.files = 0
}

const countedFiles = (end: keyof CountedReads, files: FileStore): FileStore => ({
  ...files,
  readFile(...args) {
    counts[end].files++
    return files.readFile(...args)
  },
})

const countedIn = (end: keyof CountedReads, installation: Installation): Installation => ({
  ...installation,
  store: countedLog(end, installation.store),
  files: countedFiles(end, installation.files),
})

const built = (file: string) => import(new URL(`../../../dist/${file}`, import.meta.url).href)
const { run } = (await built('cli/program.js')) as typeof import('../../../src/cli/program.ts')
const { openInstallation } = (await built(
  'wiring/open-installation.js',
)) as typeof import('../../../src/wiring/open-installation.ts')

await run(process.argv.slice(2), async (settings, purpose) =>
  countedIn(purpose === 'filled' ? 'target' : 'source', await openInstallation(settings, purpose)),
)
process.stdout.write(`${JSON.stringify(counts)}\n`)
