import type { Installation } from './installation.ts'
import { isForReading, reasonOf } from '../domain/installation/moving.ts'
import { StoreUnavailable } from '../stores/ports/event-store.ts'

/**
 * Why the installation takes no writes at this moment, each reason in an operator's words; empty where it takes them, and
 * where it is only there to be read.
 * Reads may well go on.
 */
export async function refusals({ store }: Pick<Installation, 'store'>): Promise<string[]> {
  try {
    const closed = await store.closed()
    if (closed !== undefined && isForReading(closed.why)) return []
    if (closed !== undefined) return [reasonOf(closed)]
    const refusal = await store.refusal()
    return refusal === undefined ? [] : [refusal]
  } catch (error) {
    if (error instanceof StoreUnavailable) return [error.message]
    throw error
  }
}
