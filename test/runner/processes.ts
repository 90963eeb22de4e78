import { readFileSync } from 'node:fs'
import { tierOf } from './tiers.ts'

/** By which a quick file says why it needs a process of its own; files of the other tiers have one each. */
const ALONE_BECAUSE = /^\/\/ Runs alone: .+/m

/**
 * Files with processes of their own that take longest, about longest first: what begins first ends in time. Those that
 * compute stand between those that wait, so that neither run out (`npm test -- --times` tells which is which).
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
  'domain/scoring/mesh/solid-of-body',
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
  'cli/import/killed.slow',
  'docs/synchronizing.slow',
  'faults/vault-shredded.slow',
  'faults/roles.slow',
  'faults/move/killed.slow',
  'faults/repeated-restarts.slow',
].map((name) => `test/${name}.test.ts`)

/** What keeps a process for commands (test/cli/resident): few share it, so that what one leaves ends soon. */
const FEW = ['test/cli/', 'test/maintenance/']
const FEW_TOGETHER = 4

/** Files in a process that others share: enough that it pays, few enough that the last one does not go on alone. */
const TOGETHER = 10

/** The files of each process, in the order in which they begin. */
export function processesFor(files: readonly string[]): (readonly string[])[] {
  const alone = files.filter(isAlone)
  const long = LONG_FIRST.filter((file) => alone.includes(file))
  const short = alone.filter((file) => !LONG_FIRST.includes(file))
  const others = files.filter((file) => !alone.includes(file))
  const few = others.filter((file) => FEW.some((folder) => file.startsWith(folder)))
  const shared = others.filter((file) => !few.includes(file))
  return [...long.map(only), ...chunks(few, FEW_TOGETHER), ...chunks(shared, TOGETHER), ...short.map(only)]
}

const only = (file: string): readonly string[] => [file]

const isAlone = (file: string): boolean =>
  tierOf(file) !== 'quick' || LONG_FIRST.includes(file) || ALONE_BECAUSE.test(readFileSync(file, 'utf8'))

const chunks = (files: readonly string[], size: number): (readonly string[])[] =>
  Array.from({ length: Math.ceil(files.length / size) }, (_, at) => files.slice(at * size, (at + 1) * size))
