import { statfs } from 'node:fs/promises'
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
import type { SqliteEventStoreStats } from '../stores/sqlite/events.ts'
import type { Installation } from './installation.ts'

const commitOf = (position: PositionOrStart) => (position === 'start' ? 0 : Number(position.commit))

/** Undefined while the store is unavailable, so that the other metrics are still exported. */
export async function ifAvailable<Answer>(query: () => Answer | Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await query()
  } catch (error) {
    if (error instanceof StoreUnavailable) return undefined
    throw error
  }
}

/** Metrics of the event log and the diamonds read model; those of an unavailable store are omitted. */
export async function collectMetrics(
  { store, counters }: Installation,
  model: ReadModel,
  active: Pick<ActiveRunner, 'isActive'>,
): Promise<Metric[]> {
  const [head, checkpoint, parked] = [
    await ifAvailable(() => store.head()),
    await ifAvailable(() => model.position()),
    await ifAvailable(() => model.parkedStreams()),
  ]
  const closed = await ifAvailable(() => store.closedReason())
  const refusal = await ifAvailable(() => store.diskErrorMessage())
  return [
    gauge('adamant_log_away', '1 while the event log is unavailable', head === undefined ? 1 : 0),
    ...positions(head, checkpoint),
    gauge('adamant_projection_active', '1 if this process runs the projection', active.isActive ? 1 : 0),
    ...(parked === undefined ? [] : [gauge('adamant_projection_parked_streams', 'Parked streams', parked.size)]),
    gauge(
      'adamant_log_refuses_writes',
      '1 while the disk of the event log refuses writes',
      refusal === undefined ? 0 : 1,
    ),
    {
      ...gauge('adamant_moved', '1 if this installation was moved', closed?.why === 'fenced' ? 1 : 0),
      labels: movedTo(closed),
    },
    ...logCounters(counters()),
  ]
}

type CheckpointedConsumer = { readonly name: string; readonly model: ReadModel; readonly isActive: boolean }

/**
 * Position, lag, parked streams and leadership of each consumer: with the label `follower`, and as
 * `adamant_NAME_position` etc., the names of earlier releases.
 */
export async function consumerMetrics(
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
    gauge(`${stem}_active`, `1 if this process runs ${name}`, running),
    { ...gauge('adamant_follower_active', '1 if this process runs the consumer', running), labels },
  ]
  const [position, parked] = [await ifAvailable(() => model.position()), await ifAvailable(() => model.parkedStreams())]
  if (head === undefined || position === undefined || parked === undefined) return active
  const lag = commitOf(head) - commitOf(position)
  return [
    {
      ...gauge(
        'adamant_follower_position',
        'Checkpoint of a consumer: its position in the event log',
        commitOf(position),
      ),
      labels,
    },
    {
      ...gauge('adamant_follower_lag', 'Lag of a consumer: positions between it and the head of the event log', lag),
      labels,
    },
    {
      ...gauge('adamant_follower_parked_streams', 'Streams that a consumer has parked, with dead letters', parked.size),
      labels,
    },
    gauge(`${stem}_position`, `Checkpoint of ${name}: its position in the event log`, commitOf(position)),
    gauge(`${stem}_lag`, `Lag of ${name}: positions between it and the head of the event log`, lag),
    gauge(`${stem}_parked_streams`, `Streams that ${name} has parked`, parked.size),
    ...active,
  ]
}

function positions(head: PositionOrStart | undefined, checkpoint: PositionOrStart | undefined): Metric[] {
  const metrics: Metric[] = []
  if (head !== undefined) metrics.push(gauge('adamant_log_head', 'Position of the newest event', commitOf(head)))
  if (checkpoint !== undefined) metrics.push(gauge('adamant_projection_position', POSITION_HELP, commitOf(checkpoint)))
  if (head !== undefined && checkpoint !== undefined) {
    metrics.push(gauge('adamant_projection_lag', LAG_HELP, commitOf(head) - commitOf(checkpoint)))
  }
  return metrics
}

const POSITION_HELP = 'Checkpoint of the diamonds read model: its position in the event log'
const LAG_HELP = 'Lag of the diamonds read model: positions between it and the head of the event log'

const movedTo = (closed: ReadOnlyState | undefined): Record<string, string> =>
  closed?.why === 'fenced' ? { to: closed.to } : {}

const LOG_COUNTERS: Readonly<Record<keyof SqliteEventStoreStats, string>> = {
  calls: 'Appends that were committed to the event log',
  events: 'Events that were committed to the event log',
  transactions: 'Transactions of the event log; one can commit several appends',
  busy: 'Transactions of the event log that found its file locked by another process; they are retried',
  failures: 'Transactions of the event log that failed',
  checkpoints: "WAL checkpoints of the event log's file",
  checkpointsOnLoop: "WAL checkpoints of the event log's file that blocked the event loop, because their thread failed",
}

/** The counters that the log has: none, unless it is embedded. They count since the process started. */
const logCounters = (values: Readonly<Record<string, number>>): Metric[] =>
  Object.entries(LOG_COUNTERS).flatMap(([name, help]) => {
    const value = values[name]
    return value === undefined ? [] : [{ name: `adamant_log_${toSnakeCase(name)}_total`, help, kind: 'counter', value }]
  })

/** Delay of the event loop since the last scrape. */
export function loopMetrics(delay: Pick<EventLoopDelay, 'since'>): Metric[] {
  const { median, p99, max } = delay.since()
  return Object.entries({ '0.5': median, '0.99': p99, '1': max }).map(([quantile, value]): Metric => ({
    name: 'adamant_event_loop_delay_seconds',
    help: 'Delay of the event loop since the last scrape, in seconds',
    kind: 'gauge',
    value,
    labels: { quantile },
  }))
}

const toSnakeCase = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** Contents of the vault, and the delay of the most overdue mail; none while the vault is unavailable. */
export async function vaultMetrics({ vault, context }: Pick<Installation, 'vault' | 'context'>): Promise<Metric[]> {
  const counts = await ifAvailable(() => vault.counts())
  const due = await ifAvailable(async () => ({ at: await vault.nextMail() }))
  if (counts === undefined || due === undefined) return []
  const overdueSeconds = due.at === undefined ? 0 : Math.max(0, context.clock() - due.at) / 1000
  return [
    gauge('adamant_vault_secrets', 'One-time secrets that have not been read', counts.secrets),
    gauge('adamant_vault_receipts', 'Secrets whose metadata their senders can still see', counts.receipts),
    gauge('adamant_mails_waiting', 'Queued mails, including notices for secrets that have not been read', counts.mails),
    gauge('adamant_mail_overdue_seconds', 'Seconds by which the oldest due mail is overdue', overdueSeconds),
  ]
}

/** Resources used by the process, with the names that Prometheus clients use. */
export function processMetrics(): Metric[] {
  const { rss, heapUsed, heapTotal, external } = process.memoryUsage()
  const { user, system } = process.cpuUsage()
  const startedAt = Math.round(Date.now() / 1000 - process.uptime())
  return [
    { ...gauge('adamant_build_info', '1, with the running release as a label', 1), labels: { version: VERSION } },
    gauge('process_resident_memory_bytes', 'Resident memory', rss),
    gauge('nodejs_heap_size_used_bytes', 'Used heap memory', heapUsed),
    gauge('nodejs_heap_size_total_bytes', 'Allocated heap memory', heapTotal),
    gauge('nodejs_external_memory_bytes', 'Memory outside the heap, such as buffers', external),
    gauge('process_uptime_seconds', 'Seconds since the process started', process.uptime()),
    gauge('process_start_time_seconds', 'When the process started, in seconds since 1970', startedAt),
    {
      name: 'process_cpu_seconds_total',
      help: 'CPU time of all threads of the process, in seconds',
      kind: 'counter',
      value: (user + system) / 1e6,
    },
  ]
}

export async function diskMetrics(folder: string): Promise<Metric[]> {
  // If the system does not report it, the value is missing and the other metrics are still exported.
  const disk = await statfs(folder).catch(() => undefined)
  if (disk === undefined) return []
  const { bsize, bavail, blocks } = disk
  return [
    gauge('adamant_data_dir_free_bytes', 'Free bytes for the service on the disk of DATA_DIR', bsize * bavail),
    gauge('adamant_data_dir_size_bytes', 'Size of the disk of DATA_DIR in bytes', bsize * blocks),
  ]
}

/**
 * Listens on METRICS_PORT, if set, and serves only `/metrics`, without authentication. Every role does so, so that a
 * process that only projects is monitored too.
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
