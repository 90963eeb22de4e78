import { mayHave, told, type History, type TokenOperation } from './operation.ts'

type End = TokenOperation & { kind: 'end' | 'refresh' }

/** No token is taken after its end, a refresh token is taken once, and none is refused before its end. */
export function* endsWithItsEnd({ operations, grace }: History): Iterable<string> {
  const endsOf = endsByToken(operations)
  const refreshed = new Map<string, End>()
  for (const use of operations) {
    if (use.kind !== 'use' && use.kind !== 'refresh') continue
    const ends = (endsOf.get(use.token) ?? []).filter((end) => end !== use)
    if (use.outcome === 'done') {
      const over = ends.find((end) => end.kind === 'end' && end.outcome === 'done' && end.ended + grace < use.began)
      if (over !== undefined) yield `${told(use)} was taken with ${use.token} after ${told(over)}`
    } else if (use.outcome === 'missing' && !ends.some((end) => mayHave(end) && end.began < use.ended)) {
      yield `${told(use)} was refused with ${use.token}, which nothing had ended`
    }
    if (use.kind !== 'refresh' || use.outcome !== 'done') continue
    const before = refreshed.get(use.token)
    if (before !== undefined) yield `${use.token} was taken twice: ${told(before)}; ${told(use)}`
    refreshed.set(use.token, use)
  }
}

/** What can have ended each token: a refresh ends the token that it takes. */
function endsByToken(operations: History['operations']): Map<string, End[]> {
  const ends = new Map<string, End[]>()
  for (const end of operations) {
    if (end.kind !== 'end' && end.kind !== 'refresh') continue
    for (const token of end.kind === 'end' ? end.tokens : [end.token])
      ends.set(token, [...(ends.get(token) ?? []), end])
  }
  return ends
}
