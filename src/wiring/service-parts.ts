import type { Registry } from 'prom-client'
import type { AppLogger } from '../runtime/logger.ts'
import { settlesWithin } from '../runtime/deadline.ts'
import type { RunCounters } from '../projections/engine/loop.ts'
import { registerCounters, toMetricName } from './scraped-metrics.ts'

/**
 * Milliseconds for each stage of the shutdown, in order: request handling and background work, then what they use, then
 * the stores. Applies even if stores are unavailable; the sum is well under 10 s.
 */
const STAGE_TIMEOUTS_MS = { requests: 5_500, dependencies: 1_500, stores: 1_500 } as const

export type ServicePart = {
  readonly stage: keyof typeof STAGE_TIMEOUTS_MS
  /** Shown in the log if it fails to stop. */
  readonly name: string
  readonly stop: () => Promise<unknown>
  /** Run counters of its background work. */
  readonly counters?: () => readonly RunCounters[]
}

export class ServiceParts {
  readonly #parts: ServicePart[] = []
  #closing: Promise<void> | undefined

  constructor(
    private readonly log: AppLogger,
    private readonly metricsRegistry: Registry,
  ) {
    const all = () => this.#parts.flatMap(({ counters = () => [] }) => counters())
    for (const [kind, word] of RUN_COUNTERS) {
      const read = () => Object.fromEntries(all().map((one) => [one.name, one[kind]]))
      registerCounters(metricsRegistry, {
        [`adamant_work_${kind}_total`]: [`${word} runs of background work`, read, 'work'],
      })
    }
  }

  /** To be called right after opening: a later step may fail. */
  add(part: ServicePart): void {
    this.#parts.push(part)
    const { counters = () => [] } = part
    for (const { name } of counters())
      for (const [kind, word] of RUN_COUNTERS) {
        const read = () => counters().find((one) => one.name === name)?.[kind]
        registerCounters(this.metricsRegistry, {
          [`adamant_work_${toMetricName(name)}_${kind}_total`]: [`${word} runs of ${name}`, read],
        })
      }
  }

  /** Closes everything, once. Never rejects: failures and timeouts are logged, and the rest is closed. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    for (const stage of Object.keys(STAGE_TIMEOUTS_MS) as ServicePart['stage'][]) {
      const parts = this.#parts.filter((part) => part.stage === stage)
      await Promise.all(parts.map((part) => this.#stop(part)))
    }
  }

  async #stop({ name, stage, stop }: ServicePart): Promise<void> {
    const milliseconds = STAGE_TIMEOUTS_MS[stage]
    const stopping = Promise.resolve()
      .then(stop)
      .catch((error: unknown) => this.log.warn({ err: error, part: name }, 'a part of the service failed to stop'))
    if (await settlesWithin(stopping, milliseconds)) return
    this.log.warn({ part: name, milliseconds }, 'a part of the service did not stop in time; no longer waiting for it')
  }
}

/** With the first word of their help. */
const RUN_COUNTERS = [
  ['runs', 'Started'],
  ['failures', 'Failed'],
] as const
