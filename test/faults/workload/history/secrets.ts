import { mayHaveExecuted, describe, type Operation, type SecretOperation } from './operation.ts'

/** The operations on one secret. */
type SecretHistory = { readonly secret: string; readonly shares: SecretOperation[]; readonly ends: SecretOperation[] }

/** Each acknowledged secret is read once, with its value, or burned once. */
export function* hasOneReader(operations: readonly Operation[]): Iterable<string> {
  for (const { secret, shares, ends } of secretHistoriesOf(operations)) {
    const done = ends.filter(({ outcome }) => outcome === 'done')
    if (done.length > 1) yield `${secret} has ${done.length} ends: ${done.map(describe).join('; ')}`
    for (const end of done) {
      if (end.kind === 'reveal' && end.value !== secret) yield `${describe(end)} returned another value than ${secret}`
    }
    const shared = shares.find(({ outcome }) => outcome === 'done')
    for (const miss of ends) {
      if (miss.outcome !== 'missing' || shared === undefined || shared.endedAt > miss.startedAt) continue
      const others = ends.filter((end) => end !== miss && mayHaveExecuted(end) && end.startedAt < miss.endedAt)
      if (others.length === 0) yield `${describe(miss)} does not find ${secret}, which no client had read or burned`
    }
  }
}

function secretHistoriesOf(operations: readonly Operation[]): Iterable<SecretHistory> {
  const histories = new Map<string, SecretHistory>()
  for (const operation of operations) {
    if (operation.kind !== 'share' && operation.kind !== 'reveal' && operation.kind !== 'burn') continue
    const { secret } = operation
    const history = histories.get(secret) ?? { secret, shares: [], ends: [] }
    histories.set(secret, history)
    ;(operation.kind === 'share' ? history.shares : history.ends).push(operation)
  }
  return histories.values()
}
