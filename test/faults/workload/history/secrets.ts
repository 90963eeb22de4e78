import { mayHave, told, type Operation, type SecretOperation } from './operation.ts'

/** The operations on one secret. */
type Story = { readonly secret: string; readonly shares: SecretOperation[]; readonly ends: SecretOperation[] }

/** Each acknowledged secret is read once, with its value, or burned once. */
export function* hasOneReader(operations: readonly Operation[]): Iterable<string> {
  for (const { secret, shares, ends } of storiesOf(operations)) {
    const done = ends.filter(({ outcome }) => outcome === 'done')
    if (done.length > 1) yield `${secret} has ${done.length} ends: ${done.map(told).join('; ')}`
    for (const end of done) {
      if (end.kind === 'reveal' && end.value !== secret) yield `${told(end)} returned another value than ${secret}`
    }
    const shared = shares.find(({ outcome }) => outcome === 'done')
    for (const miss of ends) {
      if (miss.outcome !== 'missing' || shared === undefined || shared.ended > miss.began) continue
      const others = ends.filter((end) => end !== miss && mayHave(end) && end.began < miss.ended)
      if (others.length === 0) yield `${told(miss)} does not find ${secret}, which no client had read or burned`
    }
  }
}

function storiesOf(operations: readonly Operation[]): Iterable<Story> {
  const stories = new Map<string, Story>()
  for (const operation of operations) {
    if (operation.kind !== 'share' && operation.kind !== 'reveal' && operation.kind !== 'burn') continue
    const { secret } = operation
    const story = stories.get(secret) ?? { secret, shares: [], ends: [] }
    stories.set(secret, story)
    ;(operation.kind === 'share' ? story.shares : story.ends).push(operation)
  }
  return stories.values()
}
