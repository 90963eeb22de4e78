/**
 * Runs test files, some in parallel, and ends with `N passed, N failed`. `--tier quick|slow|engines|all` selects a tier
 * (test/runner/tiers.ts); further arguments are substrings of paths, in every tier unless one is named. `--full` runs the
 * long forms (ADAMANT_FULL=1); `--engines esdb+sqlite` (test/engines.ts) runs the files on these engines; `--times` lists
 * the time of each file at the end.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir, totalmem } from 'node:os'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { ENDPOINTS } from '../src/http/endpoints.ts'
import { unsupportedNodeMessage } from '../src/runtime/version.ts'
import { seenResponses, SEEN_RESPONSES, unseenResponses } from './api/harness/seen-responses.ts'
import { ENGINE_COMBINATIONS } from './engines.ts'
import { builtFerretDB } from './ferretdb/build.ts'
import { globSync } from './glob.ts'
import { compileOnce } from './runner/compile.ts'
import { folderInMemory } from './runner/disk.ts'
import { processesFor } from './runner/processes.ts'
import { MONGO_CONTAINER_VARIABLE } from './mongo-server.ts'
import { groupsOf, tierOf, TIERS, type Group, type Tier } from './runner/tiers.ts'
import { timesOf } from './runner/times.ts'
import { SEED } from './seeded.ts'
import { killAll, runFiles, type Outcome } from './runner/run-files.ts'

/** Seconds after which a file counts as hanging. */
const LIMIT = 900
/** The same with the long forms. */
const FULL_LIMIT = 2_400

/** Bytes of memory per test process: a browser, a service and their test take half a gigabyte. */
const MEMORY_PER_PROCESS = 1024 ** 3
/**
 * More processes than cores, because the longest files mostly wait for servers, leases and clocks. Each process on MongoDB
 * also has a server that uses CPU time: with five of them, calls reach their timeouts.
 */
const MAX_PROCESSES = 5
const MAX_PROCESSES_ON_SERVERS = 4

/** The name and the reason of a failed test in uvu's output. */
const FAILED_TEST = /^ +FAIL +(.+)\n +(.+)/gm

const refusal = unsupportedNodeMessage(process.versions.node, process.execPath)
if (refusal !== undefined) {
  console.error(refusal)
  process.exit(2)
}
const { values, positionals: words } = parseArgs({
  options: {
    full: { type: 'boolean', default: false },
    times: { type: 'boolean', default: false },
    engines: { type: 'string' },
    tier: { type: 'string' },
  },
  allowPositionals: true,
})
const { full, times, engines } = values
if (engines !== undefined && !ENGINE_COMBINATIONS.some((known) => known === engines)) {
  console.error(`--engines must be one of ${ENGINE_COMBINATIONS.join(', ')}, got ${engines}`)
  process.exit(2)
}
const tiers = tiersOf(values.tier)
const limit = full ? FULL_LIMIT : LIMIT
const isWhole = values.tier !== undefined || words.length === 0
const batches = tiers.map((tier) => groupsOf(tier, matchingFiles(words), { engines, isWhole }))
const files = batches.flat().flatMap((group) => group.files)

/** Without `--tier`, path arguments select from all tiers. */
function tiersOf(tier = words.length > 0 ? 'all' : 'quick'): readonly Tier[] {
  if (tier === 'all') return TIERS
  const named = TIERS.filter((known) => known === tier)
  if (named.length > 0) return named
  console.error(`--tier must be one of ${TIERS.join(', ')} and all, got ${tier}`)
  process.exit(2)
}

/** Every test file whose path contains one of the words, or all files without words. */
function matchingFiles(wanted: readonly string[]): string[] {
  return globSync(new URL('.', import.meta.url))
    .map((file) => relative('.', file))
    .filter((file) => wanted.length === 0 || wanted.some((word) => file.includes(word)))
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    killAll()
    process.exit(130)
  })
}

const { words: node, folder } = compileOnce() ?? process.exit(1)
const seenIn = mkdtempSync(join(tmpdir(), 'adamant-answers-'))
process.once('exit', () => rmSync(seenIn, { recursive: true, force: true }))
const disk = folderInMemory(full)
const mayNeedMongo =
  engines === undefined ? files.some((file) => tierOf(file) !== 'quick') : engines.includes('mongodb')
if (mayNeedMongo && !process.env['MONGODB_URL']) {
  const built = process.env['FERRETDB_BIN'] ?? builtFerretDB()
  if (built !== undefined) process.env['FERRETDB_BIN'] = built
}
// Imported on demand: most runs need no container, and the module is slow to load.
const container = mayNeedMongo
  ? await import('./docker/mongodb.ts').then(({ startMongoContainer }) => startMongoContainer())
  : undefined
if (container !== undefined)
  process.env[MONGO_CONTAINER_VARIABLE] = JSON.stringify({ name: container.name, url: container.url })
/** Without a MongoDB server, a tier skips its MongoDB suites; with `--engines`, a missing server is an error. */
const hasMongo = engines !== undefined || Boolean(process.env['MONGODB_URL'] ?? process.env['FERRETDB_BIN'])
const env = {
  ...process.env,
  ...(disk && { TMPDIR: disk }),
  FORCE_COLOR: '0',
  NODE_COMPILE_CACHE: folder,
  ...(full && { ADAMANT_FULL: '1' }),
  SEED: String(SEED),
  [SEEN_RESPONSES]: seenIn,
}

const outcomes: Outcome[] = []

function processCount(groups: readonly Group[]): number {
  if (availableParallelism() === 1) return 1
  const memory = Math.min(totalmem(), process.constrainedMemory() || Infinity)
  const most = groups.some((group) => group.engines?.includes('mongodb')) ? MAX_PROCESSES_ON_SERVERS : MAX_PROCESSES
  return Math.max(1, Math.min(most, Math.floor(memory / MEMORY_PER_PROCESS)))
}

async function runGroups(groups: readonly Group[]): Promise<void> {
  const queue = groups.flatMap((group) => {
    const isMissing = !hasMongo && group.engines?.includes('mongodb') === true
    if (isMissing) console.log(`LEFT OUT: the API's suites on MongoDB: neither MongoDB nor FerretDB is available`)
    const on = isMissing ? 'esdb+sqlite' : group.engines
    return processesFor(group.files).map((together) => ({ together, engines: on }))
  })
  async function lane(): Promise<void> {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const on = next.engines === undefined ? env : { ...env, ENGINES: next.engines }
      await runFiles(next.together, { words: node, env: on, limit }, (outcome) => {
        outcomes.push(outcome)
        report(outcome)
      })
    }
  }
  await Promise.all(Array.from({ length: processCount(groups) }, lane))
}

function report({ file, passed, failed, output, seconds, end }: Outcome): void {
  console.log(`${failed === 0 ? 'ok  ' : 'FAIL'} ${file} (${passed} in ${seconds.toFixed(1)} s)`)
  if (failed > 0) console.log(`${indent(output)}\n     ${file}: ${passed} passed, ${failed} failed, ${end}`)
  else if (/NOTE|LEFT OUT/.test(output)) console.log(indent(output))
}

const indent = (text: string) => text.trimEnd().replaceAll(/^/gm, '     ')

if (engines !== undefined) console.log(`On the engines ${engines}`)
for (const groups of batches) await runGroups(groups)
await container?.stop()
// A run of selected files sees only some of the responses.
const unseen = words.length > 0 || !tiers.includes('quick') ? [] : unseenResponses(ENDPOINTS, seenResponses(seenIn))
const passed = outcomes.reduce((total, outcome) => total + outcome.passed, 0)
const failed = outcomes.reduce((total, outcome) => total + outcome.failed, unseen.length)
const failing = outcomes.filter((outcome) => outcome.failed > 0)
if (files.length === 0) console.log(`No test file's path contains ${words.join(' or ')}`)
if (failing.length > 0) {
  console.log(`\nFailed; to run one file with the same random choices: \`SEED=${SEED} npm test -- FILE\`:`)
}
for (const { file, end, output } of failing) {
  console.log(`  ${file} (${end})`)
  for (const [, test, reason] of output.matchAll(FAILED_TEST)) console.log(`    ${test}: ${reason}`)
}
if (unseen.length > 0) console.log(`\nDocumented responses that no test has received:`)
for (const response of unseen) console.log(`  ${response}`)
const leaving = outcomes.filter(({ output }) => output.includes('LEFT OUT: ')).length
if (leaving > 0)
  console.log(
    `Left out, for the reasons above: ${leaving} files in whole or in part; README.md explains how to run them`,
  )
if (times) for (const line of timesOf(outcomes)) console.log(line)
const where = engines === undefined ? '' : ` on the engines ${engines}`
console.log(`${outcomes.length} files in ${process.uptime().toFixed(0)} s${where}`)
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 && passed > 0 ? 0 : 1
