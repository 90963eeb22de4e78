import { readFileSync } from 'node:fs'
import { tierOf } from './tiers.ts'

/** The comment by which a quick file requests a separate process, with the reason. Files of other tiers always have one. */
const RUNS_ALONE = /^\/\/ Runs alone: .+/m

/**
 * The longest files with a separate process, roughly longest first, so that none of them starts last. Files that compute
 * alternate with files that wait, so that both kinds run at any time (`npm test -- --times` shows the CPU time).
 */
export const LONG_FIRST = [
  'contributing-examples.slow',
  'browser/report-page.slow',
  'faults/stop-in-outage.slow',
  'faults/move/fenced-peer.slow',
  'faults/clock-jumps.slow',
  'faults/workload/overload.slow',
  'faults/secrets-killed.slow',
  'browser/reference.slow',
  'stores/eventstoredb/eventstoredb.engines',
  'optics/mesh/solid-of-body',
  'api/consistency',
  'cli/environments.slow',
  'browser/inventory.slow',
  'api/changes',
  'docs/runbook.slow',
  'cli/backup/servers.slow',
  'maintenance/verify/single-bytes.slow',
  'faults/upload-kill.slow',
  'faults/event-store-down.slow',
  'cli/checkpoint.slow',
  'faults/workload/workload.slow',
  'api/secrets/mail',
  'http/oauth/guessing',
  'reports/pdf-reader',
  'cli/replay/replay.slow',
  'stores/eventstoredb/following.engines',
  'cli/rebuild.slow',
  'browser/secret-pages.slow',
  'faults/subscription-outage.slow',
  'docs/readme.slow',
  'faults/stale-reads.slow',
  'commands/imports/crash.slow',
  'cli/import/killed.slow',
  'docs/synchronizing.slow',
  'faults/vault-shredded.slow',
  'faults/roles.slow',
  'faults/move/killed.slow',
  'faults/repeated-restarts.slow',
].map((name) => `test/${name}.test.ts`)

/** Files that keep a process for commands (test/cli/resident). Few share a process, so that leftovers of one end soon. */
const COMMAND_FOLDERS = ['test/cli/', 'test/maintenance/']
const COMMAND_FILES_PER_PROCESS = 4

/** Files per shared process: enough to save start-ups, few enough that no process runs on alone at the end. */
const FILES_PER_PROCESS = 10

/** The files of each process, in starting order. */
export function processesFor(files: readonly string[]): (readonly string[])[] {
  const alone = files.filter(isAlone)
  const long = LONG_FIRST.filter((file) => alone.includes(file))
  const short = alone.filter((file) => !LONG_FIRST.includes(file))
  const others = files.filter((file) => !alone.includes(file))
  const few = others.filter((file) => COMMAND_FOLDERS.some((folder) => file.startsWith(folder)))
  const shared = others.filter((file) => !few.includes(file))
  return [
    ...long.map(only),
    ...chunks(few, COMMAND_FILES_PER_PROCESS),
    ...chunks(shared, FILES_PER_PROCESS),
    ...short.map(only),
  ]
}

const only = (file: string): readonly string[] => [file]

const isAlone = (file: string): boolean =>
  tierOf(file) !== 'quick' || LONG_FIRST.includes(file) || RUNS_ALONE.test(readFileSync(file, 'utf8'))

const chunks = (files: readonly string[], size: number): (readonly string[])[] =>
  Array.from({ length: Math.ceil(files.length / size) }, (_, at) => files.slice(at * size, (at + 1) * size))
