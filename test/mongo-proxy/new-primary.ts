import type { Document } from 'mongodb'
import type { Rule } from './proxy.ts'

/**
 * A primary that was just elected, of MongoDB before 8.0: it has all that was acknowledged, and does not know yet that a
 * majority has it too. Until it does, it shows what was there before; reading that makes sure of it (linearizable) is right.
 * @param concerns which collections it is behind with
 */
export function newPrimary(concerns: (collection: string) => boolean) {
  const before = new Map<string, Document>()
  let isBehind = false
  const rule: Rule = (name, body) => {
    const collection = String(body[name])
    if (name !== 'find' || !concerns(collection) || body['readConcern']?.level === 'linearizable') return undefined
    const question = JSON.stringify([collection, body['filter'], body['projection']], exact)
    return {
      change(answer) {
        if (isBehind) return before.get(question) ?? { ...answer, cursor: { ...answer['cursor'], firstBatch: [] } }
        before.set(question, answer)
        return answer
      },
    }
  }
  return {
    rule,
    /** What is shown until then is what was last asked for. */
    behind: () => void (isBehind = true),
    caughtUp: () => void (isBehind = false),
  }
}

const exact = (_name: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value)
