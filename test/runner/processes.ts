import { readFileSync } from 'node:fs'

/** What starts processes, servers and browsers: each file has a process of its own, which ends what it has left. */
const ALONE = ['browser', 'cli', 'eventstoredb', 'faults', 'model', 'stores/eventstoredb', 'stores/mongodb'].map(
  (folder) => `test/${folder}/`,
)

/** By which a file elsewhere says why it needs a process of its own. */
const ALONE_BECAUSE = /^\/\/ Runs alone: .+/m

/** Files with processes of their own that take longest, about longest first: what begins first ends in time. */
export const LONG_FIRST = [
  'browser/report-page',
  'faults/stop-in-outage',
  'faults/move/fenced-peer',
  'stores/eventstoredb/eventstoredb',
  'faults/workload/workload',
  'faults/clock-jumps',
  'faults/secrets-killed',
  'cli/backup/servers',
  'faults/workload/overload',
  'faults/upload-kill',
  'cli/environments',
  'stores/eventstoredb/following',
  'faults/following-told',
  'browser/secret-pages',
  'faults/event-store-down',
  'cli/backup/backup',
  'faults/secrets-two-servers',
  'faults/move/killed',
  'faults/eventstoredb/standard-projections',
  'faults/roles',
  'model/inventory',
  'cli/import',
  'faults/move/read-once',
  'faults/secrets-on-disk',
  'faults/reads-outlive-the-log',
].map((name) => `test/${name}.test.ts`)

/** Files in a process that others share: enough that it pays, few enough that the last one does not go on alone. */
const TOGETHER = 10

/** The files of each process, in the order in which they begin. */
export function processesFor(files: readonly string[]): (readonly string[])[] {
  const alone = files.filter(isAlone)
  const long = LONG_FIRST.filter((file) => alone.includes(file))
  const short = alone.filter((file) => !LONG_FIRST.includes(file))
  const shared = files.filter((file) => !alone.includes(file))
  return [...long.map(only), ...chunks(shared), ...short.map(only)]
}

const only = (file: string): readonly string[] => [file]

const isAlone = (file: string): boolean =>
  ALONE.some((folder) => file.startsWith(folder)) || ALONE_BECAUSE.test(readFileSync(file, 'utf8'))

const chunks = (files: readonly string[]): (readonly string[])[] =>
  Array.from({ length: Math.ceil(files.length / TOGETHER) }, (_, at) => files.slice(at * TOGETHER, (at + 1) * TOGETHER))
