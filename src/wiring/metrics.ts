import { statfs } from 'node:fs/promises'
import type { CommandOutcomes, CommandCount } from '../commands/core/command-outcomes.ts'
import type { ReadOnlyState } from '../domain/installation/log-lifecycle.ts'
import { createApp } from '../http/app.ts'
import { readMetricsOnOwnPort } from '../http/health/metrics.ts'
import { createErrorLogger } from '../http/kit/errors.ts'
import { listen, type ListeningServer } from '../http/kit/server.ts'
import type { ActiveRunner } from '../projections/engine/active-runner.ts'
import type { EventLoopDelay } from '../runtime/event-loop.ts'
import { gauge, type Metric } from '../runtime/metrics.ts'
import { VERSION } from '../runtime/version.ts'
import { StoreUnavailable, type PositionOrStart } from '../stores/ports/event-store.ts'
import type { ReadModel } from '../stores/ports/read-store.ts'
import type { Installation } from './installation.ts'

const commitOf = (position: PositionOrStart) => (position === 'start' ? 0 : Number(position.commit))

/** Undefined while the store is unavailable: the other metrics are shown all the same. */
export async function ifAvailable<Answer>(ask: () => Answer | Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof StoreUnavailable) return undefined
    throw error
  }
}

/** What `/metrics` tells of this process and of the read model that it serves; of a store that is away, that it is. */
export async function collectMetrics(
  { store, counters }: Installation,
  model: ReadModel,
  active: Pick<ActiveRunner, 'isActive'>,
): Promise<Metric[]> {
  const [head, folded, parked] = [
    await ifAvailable(() => store.head()),
    await ifAvailable(() => model.position()),
    await ifAvailable(() => model.parkedStreams()),
  ]
  const closed = await ifAvailable(() => store.closedReason())
  const refusal = await ifAvailable(() => store.diskErrorMessage())
  return [
    gauge('adamant_log_away', '1 while the log can not be reached', head === undefined ? 1 : 0),
    ...positions(head, folded),
    gauge('adamant_projection_active', '1 where this process runs the projection', active.isActive ? 1 : 0),
    ...(parked === undefined ? [] : [gauge('adamant_projection_parked_streams', 'Streams set aside', parked.size)]),
    gauge('adamant_log_refuses_writes', '1 where the disk of the log refuses writes', refusal === undefined ? 0 : 1),
    {
      ...gauge('adamant_moved', '1 where this installation was moved', closed?.why === 'fenced' ? 1 : 0),
      labels: movedTo(closed),
    },
    ...Object.entries(counters()).map(([name, value]) => counter(`adamant_log_${snake(name)}_total`, name, value)),
  ]
}

/** Something that follows the log, by where it keeps how far it has come. */
export type CheckpointedConsumer = { readonly name: string; readonly model: ReadModel; readonly isActive: boolean }

/**
 * How far each of them is, what it has set aside, and whether this process runs it: by the label `follower`, and as
 * `adamant_NAME_position` and so on, which is what releases before had.
 */
export async function followerMetrics(
  { store }: Pick<Installation, 'store'>,
  consumers: readonly CheckpointedConsumer[],
): Promise<Metric[]> {
  const head = await ifAvailable(() => store.head())
  const all = await Promise.all(consumers.map((one) => metricsOf(one, head)))
  return all.flat()
}

async function metricsOf(
  { name, model, isActive }: CheckpointedConsumer,
  head: PositionOrStart | undefined,
): Promise<Metric[]> {
  const stem = `adamant_${name.replaceAll(/\W/g, '_')}`
  const labels = { follower: name }
  const running = isActive ? 1 : 0
  const active = [
    gauge(`${stem}_active`, `1 where this process runs ${name}`, running),
    { ...gauge('adamant_follower_active', '1 where this process runs the follower', running), labels },
  ]
  const [position, parked] = [await ifAvailable(() => model.position()), await ifAvailable(() => model.parkedStreams())]
  if (head === undefined || position === undefined || parked === undefined) return active
  const lag = commitOf(head) - commitOf(position)
  return [
    { ...gauge('adamant_follower_position', 'Position up to which a follower has come', commitOf(position)), labels },
    { ...gauge('adamant_follower_lag', 'Positions between the head of the log and a follower', lag), labels },
    { ...gauge('adamant_follower_parked_streams', 'Streams set aside, with dead letters', parked.size), labels },
    gauge(`${stem}_position`, `Position up to which ${name} has followed the log`, commitOf(position)),
    gauge(`${stem}_lag`, `Positions between the head of the log and ${name}`, lag),
    gauge(`${stem}_parked_streams`, `Streams that ${name} has set aside`, parked.size),
    ...active,
  ]
}

function positions(head: PositionOrStart | undefined, folded: PositionOrStart | undefined): Metric[] {
  const known: Metric[] = []
  if (head !== undefined) known.push(gauge('adamant_log_head', 'Position of the newest event', commitOf(head)))
  if (folded !== undefined) known.push(gauge('adamant_projection_position', FOLDED, commitOf(folded)))
  if (head !== undefined && folded !== undefined) {
    known.push(gauge('adamant_projection_lag', LAG, commitOf(head) - commitOf(folded)))
  }
  return known
}

const FOLDED = 'Position up to which the diamonds read model is folded'
const LAG = 'Positions between the head of the log and the diamonds read model'

const movedTo = (closed: ReadOnlyState | undefined): Record<string, string> =>
  closed?.why === 'fenced' ? { to: closed.to } : {}

const counter = (name: string, of: string, value: number): Metric => ({
  name,
  help: `Event log: ${of} since the process started`,
  kind: 'counter',
  value,
})

/** How late the event loop is, since the figures were asked for last. */
export function loopMetrics(delay: Pick<EventLoopDelay, 'since'>): Metric[] {
  const { median, p99, max } = delay.since()
  return Object.entries({ '0.5': median, '0.99': p99, '1': max }).map(([quantile, value]): Metric => ({
    name: 'adamant_event_loop_delay_seconds',
    help: 'Seconds that the event loop was late since the last scrape',
    kind: 'gauge',
    value,
    labels: { quantile },
  }))
}

/** @param value since the process started */
export const refusedConnections = (value: number): Metric => ({
  name: 'adamant_connections_refused_total',
  help: 'Connections closed because there were too many, in all or from one address',
  kind: 'counter',
  value,
})
const snake = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** What waits in the vault, and for how long the mail has been due that waits longest; none of it while it is away. */
export async function vaultMetrics({ vault, writing }: Pick<Installation, 'vault' | 'writing'>): Promise<Metric[]> {
  const counts = await ifAvailable(() => vault.counts())
  const due = await ifAvailable(async () => ({ at: await vault.nextMail() }))
  if (counts === undefined || due === undefined) return []
  const late = due.at === undefined ? 0 : Math.max(0, writing.clock() - due.at) / 1000
  return [
    gauge('adamant_vault_secrets', 'One-time secrets that wait for their readers', counts.secrets),
    gauge('adamant_vault_receipts', 'Secrets that their senders can still find', counts.receipts),
    gauge('adamant_mails_waiting', 'Mails to be sent, those too that wait for their secret to be read', counts.mails),
    gauge('adamant_mail_overdue_seconds', 'Seconds for which the mail has been due that waits longest', late),
  ]
}

/** What the process itself uses; names as Prometheus' own clients have them. */
export function processMetrics(): Metric[] {
  const { rss, heapUsed, heapTotal, external } = process.memoryUsage()
  const { user, system } = process.cpuUsage()
  const begun = Math.round(Date.now() / 1000 - process.uptime())
  return [
    { ...gauge('adamant_build_info', '1, with the release that runs', 1), labels: { version: VERSION } },
    gauge('process_resident_memory_bytes', 'Resident memory', rss),
    gauge('nodejs_heap_size_used_bytes', 'Memory that JavaScript values take', heapUsed),
    gauge('nodejs_heap_size_total_bytes', 'Memory that V8 has for them', heapTotal),
    gauge('nodejs_external_memory_bytes', 'Memory outside of that, such as buffers', external),
    gauge('process_uptime_seconds', 'Seconds since the process started', process.uptime()),
    gauge('process_start_time_seconds', 'When the process started, in seconds since 1970', begun),
    {
      name: 'process_cpu_seconds_total',
      help: 'Seconds of processor time that all threads of the process have used',
      kind: 'counter',
      value: (user + system) / 1e6,
    },
  ]
}

/** Room on the disk of a folder. */
export async function diskMetrics(folder: string): Promise<Metric[]> {
  // Where the system can't say, the figure is missing, and the other metrics are shown all the same.
  const disk = await statfs(folder).catch(() => undefined)
  if (disk === undefined) return []
  const { bsize, bavail, blocks } = disk
  return [
    gauge('adamant_data_dir_free_bytes', 'Bytes that are free for the service on the disk of DATA_DIR', bsize * bavail),
    gauge('adamant_data_dir_size_bytes', 'Bytes of the disk of DATA_DIR', bsize * blocks),
  ]
}

/** What came of commands, by what they were on: a stream's first word. */
export function commandMetrics({ ended, retries }: Pick<CommandOutcomes, 'ended' | 'retries'>): Metric[] {
  return [
    ...ended.map(commandCounter('adamant_commands_total', 'Commands that ended, by how', 'outcome')),
    ...retries.map(
      commandCounter('adamant_command_retries_total', 'Tries of commands after the first, by why', 'reason'),
    ),
  ]
}

const commandCounter =
  (name: string, help: string, label: string) =>
  ({ subject, kind, count }: CommandCount<string>): Metric => ({
    name,
    help,
    kind: 'counter',
    value: count,
    labels: { subject, [label]: kind },
  })

/**
 * Listens on METRICS_PORT, where that is set, and answers `/metrics` alone, without authentication. Every role
 * has it, so that a process that only projects is watched too.
 */
export async function listenForMetrics(
  { settings, log }: Installation,
  text: () => Promise<string>,
): Promise<ListeningServer | undefined> {
  const { METRICS_PORT, HOST, TRUST_PROXY } = settings
  if (METRICS_PORT === undefined) return undefined
  const options = { log: createErrorLogger(log), trustProxy: TRUST_PROXY }
  const app = createApp([readMetricsOnOwnPort], { metrics: { text } }, options)
  return listen(() => app.callback(), HOST, METRICS_PORT)
}
