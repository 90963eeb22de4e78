import type { Closed } from './domain/moving.ts'
import type { Metric } from './http/health.ts'
import type { Installation } from './installation.ts'
import type { ActiveRunner } from './projections/active-runner.ts'
import type { From } from './stores/event-store.ts'
import type { ReadModel } from './stores/read-store.ts'

export const commitOf = (position: From) => (position === 'start' ? 0 : Number(position.commit))

/** What `/metrics` tells of this process and of the read model that it serves. */
export async function collectMetrics(
  { store, counters }: Installation,
  model: ReadModel,
  active: Pick<ActiveRunner, 'active'>,
): Promise<Metric[]> {
  const head = commitOf(await store.head())
  const folded = commitOf(await model.position())
  const closed = await store.closed()
  const refusal = await store.refusal()
  return [
    gauge('process_resident_memory_bytes', 'Resident memory', process.memoryUsage.rss()),
    gauge('process_uptime_seconds', 'Seconds since the process started', process.uptime()),
    gauge('adamant_log_head', 'Position of the newest event', head),
    gauge('adamant_projection_position', 'Position up to which the diamonds read model is folded', folded),
    gauge('adamant_projection_lag', 'Positions between the head of the log and the diamonds read model', head - folded),
    gauge('adamant_projection_active', '1 where this process runs the projection', active.active ? 1 : 0),
    gauge('adamant_projection_parked_streams', 'Streams set aside', (await model.parked()).size),
    gauge('adamant_log_refuses_writes', '1 where the disk of the log refuses writes', refusal === undefined ? 0 : 1),
    {
      ...gauge('adamant_moved', '1 where this installation was moved', closed === undefined ? 0 : 1),
      labels: movedTo(closed),
    },
    ...Object.entries(counters()).map(([name, value]) => counter(`adamant_log_${snake(name)}_total`, name, value)),
  ]
}

const movedTo = (closed: Closed | undefined): Record<string, string> =>
  closed?.why === 'fenced' ? { to: closed.to } : {}

export const gauge = (name: string, help: string, value: number): Metric => ({ name, help, kind: 'gauge', value })
const counter = (name: string, of: string, value: number): Metric => ({
  name,
  help: `Event log: ${of} since the process started`,
  kind: 'counter',
  value,
})
/** @param value since the process started */
export const refusedConnections = (value: number): Metric => ({
  name: 'adamant_connections_refused_total',
  help: 'Connections closed because there were too many, in all or from one address',
  kind: 'counter',
  value,
})
const snake = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
