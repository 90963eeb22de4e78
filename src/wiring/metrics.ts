import { statfs } from 'node:fs/promises'
import type { Registry } from 'prom-client'
import { createApp } from '../http/app.ts'
import { livenessCheck, readinessCheck, type HealthServices } from '../http/health/health.ts'
import { readMetricsOnOwnPort } from '../http/health/metrics.ts'
import { createErrorLogger } from '../http/kit/errors.ts'
import { listen, type ListeningServer } from '../http/kit/server.ts'
import { diamonds } from '../projections/diamonds/diamonds.ts'
import type { EventLoopDelay } from '../runtime/event-loop.ts'
import { VERSION } from '../runtime/version.ts'
import type { PositionOrStart } from '../stores/ports/event-store.ts'
import type { ReadModel } from '../stores/ports/read-store.ts'
import type { SqliteEventStoreStats } from '../stores/sqlite/events.ts'
import type { Installation } from './installation.ts'
import { ifAvailable, oncePerScrape, registerCounters, registerGauges, toMetricName } from './scraped-metrics.ts'

/** A read model or a reaction, which may run in another process. */
export type CheckpointedConsumer = {
  readonly name: string
  readonly openModel: () => Promise<Pick<ReadModel, 'position' | 'parkedStreams'>>
  readonly isActive: () => boolean
  /** Whether this log can never give it work; it has no samples then. */
  readonly isNotNeeded: () => boolean
}

/** Metrics of the event log, and of its consumers. */
export function registerLogMetrics(
  { metricsRegistry, store, counters }: Installation,
  consumers: readonly CheckpointedConsumer[],
): void {
  const head = oncePerScrape(async () => commitOf(await store.head()))
  const isAway = async () => ((await ifAvailable(head)) === undefined ? 1 : 0)
  const refusesWrites = async () => ((await ifAvailable(() => store.diskErrorMessage())) === undefined ? 0 : 1)
  async function moved() {
    const closed = await ifAvailable(() => store.closedReason())
    return closed?.why === 'fenced' ? { [closed.to]: 1 } : 0
  }
  registerGauges(metricsRegistry, {
    adamant_log_away: ['1 while the event log is unavailable', isAway],
    adamant_log_head: ['Position of the newest event', head],
    adamant_log_refuses_writes: ['1 while the disk of the event log refuses writes', refusesWrites],
    adamant_moved: ['1 if this installation was moved', moved, 'to'],
  })
  for (const [name, help] of Object.entries(LOG_COUNTERS))
    if (name in counters())
      registerCounters(metricsRegistry, { [`adamant_log_${toSnakeCase(name)}_total`]: [help, () => counters()[name]] })
  registerConsumerMetrics(
    metricsRegistry,
    consumers.map((consumer) => readerOf(consumer, head)),
  )
}

const commitOf = (position: PositionOrStart) => (position === 'start' ? 0 : Number(position.commit))

/** Only an embedded log has counters. They count since the process started. */
const LOG_COUNTERS: Readonly<Record<keyof SqliteEventStoreStats, string>> = {
  calls: 'Appends that were committed to the event log',
  events: 'Events that were committed to the event log',
  transactions: 'Transactions of the event log; one can commit several appends',
  busy: 'Transactions of the event log that failed because another process kept its file locked',
  failures: 'Transactions of the event log that failed',
  checkpoints: "WAL checkpoints of the event log's file",
  checkpointsOnLoop: "WAL checkpoints of the event log's file that blocked the event loop, because their thread failed",
}

const toSnakeCase = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/**
 * Position, lag, parked streams and leadership of each consumer: with the label `follower`, and under the names of
 * earlier releases, `adamant_NAME_position` etc. and `adamant_projection_position` etc. for the diamonds.
 */
function registerConsumerMetrics(registry: Registry, readers: readonly ConsumerReader[]): void {
  const all = (kind: Exclude<keyof ConsumerReader, 'name'>) => async () =>
    Object.fromEntries(await Promise.all(readers.map(async (one) => [one.name, await ifAvailable(one[kind])] as const)))
  registerGauges(registry, {
    adamant_follower_position: [positionHelp('a consumer'), all('position'), 'follower'],
    adamant_follower_lag: [lagHelp('a consumer'), all('lag'), 'follower'],
    adamant_follower_parked_streams: [
      'Streams that a consumer has parked, with dead letters',
      all('parkedStreams'),
      'follower',
    ],
    adamant_follower_active: ['1 if this process runs the consumer', all('isActive'), 'follower'],
  })
  for (const { name, position, lag, parkedStreams, isActive } of readers) {
    const stem = `adamant_${toMetricName(name)}`
    registerGauges(registry, {
      [`${stem}_position`]: [positionHelp(name), position],
      [`${stem}_lag`]: [lagHelp(name), lag],
      [`${stem}_parked_streams`]: [`Streams that ${name} has parked`, parkedStreams],
      [`${stem}_active`]: [`1 if this process runs ${name}`, isActive],
    })
    if (name === diamonds.declaration.name)
      registerGauges(registry, {
        adamant_projection_position: [positionHelp('the diamonds read model'), position],
        adamant_projection_lag: [lagHelp('the diamonds read model'), lag],
        adamant_projection_parked_streams: ['Parked streams', parkedStreams],
        adamant_projection_active: ['1 if this process runs the projection', isActive],
      })
  }
}

const positionHelp = (consumer: string) => `Checkpoint of ${consumer}: its position in the event log`
const lagHelp = (consumer: string) => `Lag of ${consumer}: positions between it and the head of the event log`

type ConsumerReader = ReturnType<typeof readerOf>

function readerOf({ name, openModel, isActive, isNotNeeded }: CheckpointedConsumer, head: () => Promise<number>) {
  const ifNeeded =
    <Value>(read: () => Value) =>
    () =>
      isNotNeeded() ? undefined : read()
  const position = oncePerScrape(async () => commitOf(await (await openModel()).position()))
  async function lag() {
    const [end, reached] = await Promise.all([head(), position()])
    return end - reached
  }
  return {
    name,
    position: ifNeeded(position),
    lag: ifNeeded(lag),
    parkedStreams: ifNeeded(oncePerScrape(async () => (await (await openModel()).parkedStreams()).size)),
    isActive: ifNeeded(() => Number(isActive())),
  }
}

/** Contents of the vault, and the delay of the most overdue mail. */
export function registerVaultMetrics({ metricsRegistry, vault, context }: Installation): void {
  const counts = oncePerScrape(() => vault.counts())
  async function overdueSeconds() {
    const dueAt = await vault.nextMail()
    return dueAt === undefined ? 0 : Math.max(0, context.clock() - dueAt) / 1000
  }
  registerGauges(metricsRegistry, {
    adamant_vault_secrets: ['One-time secrets that have not been read', async () => (await counts()).secrets],
    adamant_vault_receipts: [
      'Secrets whose metadata their senders can still see',
      async () => (await counts()).receipts,
    ],
    adamant_mails_waiting: ['Mails to be sent', async () => (await counts()).mails],
    adamant_mail_overdue_seconds: ['Seconds by which the oldest due mail is overdue', overdueSeconds],
  })
}

/** Resources used by the process, with the names that Prometheus clients use, and the disk of DATA_DIR. */
export function registerProcessMetrics(
  { metricsRegistry, settings }: Installation,
  delay: Pick<EventLoopDelay, 'byQuantile'>,
): void {
  const startedAt = () => Math.round(Date.now() / 1000 - process.uptime())
  function cpuSeconds() {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  }
  // If the system does not report it, the values are missing.
  const disk = oncePerScrape(() => statfs(settings.DATA_DIR).catch(() => undefined))
  async function diskBytes(kind: 'bavail' | 'blocks') {
    const status = await disk()
    return status && status.bsize * status[kind]
  }
  registerGauges(metricsRegistry, {
    adamant_build_info: ['1, with the running release as a label', () => ({ [VERSION]: 1 }), 'version'],
    process_resident_memory_bytes: ['Resident memory', () => process.memoryUsage.rss()],
    nodejs_heap_size_used_bytes: ['Used heap memory', () => process.memoryUsage().heapUsed],
    nodejs_heap_size_total_bytes: ['Allocated heap memory', () => process.memoryUsage().heapTotal],
    nodejs_external_memory_bytes: ['Memory outside the heap, such as buffers', () => process.memoryUsage().external],
    process_uptime_seconds: ['Seconds since the process started', () => process.uptime()],
    process_start_time_seconds: ['When the process started, in seconds since 1970', startedAt],
    adamant_event_loop_delay_seconds: [
      'Delay of the event loop since the last scrape, in seconds',
      () => delay.byQuantile(),
      'quantile',
    ],
    adamant_data_dir_free_bytes: ['Free bytes for the service on the disk of DATA_DIR', () => diskBytes('bavail')],
    adamant_data_dir_size_bytes: ['Size of the disk of DATA_DIR in bytes', () => diskBytes('blocks')],
  })
  registerCounters(metricsRegistry, {
    process_cpu_seconds_total: ['CPU time of all threads of the process, in seconds', cpuSeconds],
  })
}

/**
 * Listens on METRICS_PORT, if set, and serves only `/metrics` and the health checks, without authentication. Every role does so,
 * so that a process that only projects is monitored and supervised too.
 */
export async function listenForMetrics(
  installation: Installation,
  health: HealthServices['health'],
): Promise<ListeningServer | undefined> {
  const { settings, log, metricsRegistry } = installation
  const { METRICS_PORT, HOST, TRUST_PROXY } = settings
  if (METRICS_PORT === undefined) return undefined
  const options = { log: createErrorLogger(log), trustProxy: TRUST_PROXY }
  const app = createApp([readMetricsOnOwnPort, livenessCheck, readinessCheck], { metricsRegistry, health }, options)
  return listen(app.callback(), { host: HOST, port: METRICS_PORT })
}
