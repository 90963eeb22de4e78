import type { Closed } from '../domain/installation/moving.ts'
import { StoreUnavailable } from '../stores/ports/event-store.ts'
import type { EventLoopDelay } from '../runtime/event-loop-delay.ts'
import type { Metric } from '../http/health/metrics.ts'
import type { Installation } from './installation.ts'
import type { ActiveRunner } from '../projections/engine/active-runner.ts'
import type { From } from '../stores/ports/event-store.ts'
import type { ReadModel } from '../stores/ports/read-store.ts'

const commitOf = (position: From) => (position === 'start' ? 0 : Number(position.commit))

/** Undefined while the store is away: whoever watches is told the rest all the same. */
export async function ifThere<Answer>(ask: () => Answer | Promise<Answer>): Promise<Answer | undefined> {
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
  active: Pick<ActiveRunner, 'active'>,
): Promise<Metric[]> {
  const [head, folded, parked] = [
    await ifThere(() => store.head()),
    await ifThere(() => model.position()),
    await ifThere(() => model.parked()),
  ]
  const closed = await ifThere(() => store.closed())
  const refusal = await ifThere(() => store.refusal())
  return [
    gauge('adamant_log_away', '1 while the log can not be reached', head === undefined ? 1 : 0),
    ...positions(head, folded),
    gauge('adamant_projection_active', '1 where this process runs the projection', active.active ? 1 : 0),
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
export type Kept = { readonly name: string; readonly model: ReadModel; readonly isActive: boolean }

/**
 * How far each of them is, what it has set aside, and whether this process runs it: by the label `follower`, and as
 * `adamant_NAME_position` and so on, which is what releases before had.
 */
export async function followerMetrics(
  { store }: Pick<Installation, 'store'>,
  kept: readonly Kept[],
): Promise<Metric[]> {
  const head = await ifThere(() => store.head())
  const all = await Promise.all(kept.map((one) => metricsOf(one, head)))
  return all.flat()
}

async function metricsOf({ name, model, isActive }: Kept, head: From | undefined): Promise<Metric[]> {
  const stem = `adamant_${name.replaceAll(/\W/g, '_')}`
  const labels = { follower: name }
  const running = isActive ? 1 : 0
  const active = [
    gauge(`${stem}_active`, `1 where this process runs ${name}`, running),
    { ...gauge('adamant_follower_active', '1 where this process runs the follower', running), labels },
  ]
  const [position, parked] = [await ifThere(() => model.position()), await ifThere(() => model.parked())]
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

function positions(head: From | undefined, folded: From | undefined): Metric[] {
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

const movedTo = (closed: Closed | undefined): Record<string, string> =>
  closed?.why === 'fenced' ? { to: closed.to } : {}

const gauge = (name: string, help: string, value: number) => ({ name, help, kind: 'gauge', value }) as const
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
