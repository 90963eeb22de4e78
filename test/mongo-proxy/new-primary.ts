import type { Document } from 'mongodb'
import type { Rule } from './proxy.ts'

/**
 * A newly elected primary of MongoDB before 8.0: it has all acknowledged writes, but does not know yet that a majority has
 * them. Until then, majority reads return the earlier state, while linearizable reads return the current one.
 * @param isAffected whether reads of a collection return the earlier state
 */
export function newPrimary(isAffected: (collection: string) => boolean) {
  const before = new Map<string, Document>()
  let isBehind = false
  const rule: Rule = (name, body) => {
    const collection = String(body[name])
    if (name !== 'find' || !isAffected(collection) || body['readConcern']?.level === 'linearizable') return undefined
    const key = JSON.stringify([collection, body['filter'], body['projection']], exact)
    return {
      change(response) {
        if (isBehind) return before.get(key) ?? { ...response, cursor: { ...response['cursor'], firstBatch: [] } }
        before.set(key, response)
        return response
      },
    }
  }
  return {
    rule,
    /** From now on, each read returns the response that the same read got before. */
    behind: () => void (isBehind = true),
    caughtUp: () => void (isBehind = false),
  }
}

const exact = (_name: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value)
