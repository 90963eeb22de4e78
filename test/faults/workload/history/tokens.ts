import { mayHaveExecuted, describe, type History, type TokenOperation } from './operation.ts'

type TokenEnd = TokenOperation & { kind: 'end' | 'refresh' }

/** A token is accepted until its end and rejected afterwards; a refresh token is accepted once. */
export function* tokensEnd({ operations, grace }: History): Iterable<string> {
  const endsOf = endsByToken(operations)
  const refreshed = new Map<string, TokenEnd>()
  for (const use of operations) {
    if (use.kind !== 'use' && use.kind !== 'refresh') continue
    const ends = (endsOf.get(use.token) ?? []).filter((end) => end !== use)
    if (use.outcome === 'done') {
      const before = ends.find(
        (end) => end.kind === 'end' && end.outcome === 'done' && end.endedAt + grace < use.startedAt,
      )
      if (before !== undefined) yield `${describe(use)} was accepted with ${use.token} after ${describe(before)}`
    } else if (use.outcome === 'missing' && !ends.some((end) => mayHaveExecuted(end) && end.startedAt < use.endedAt)) {
      yield `${describe(use)} was rejected with ${use.token}, which had not ended`
    }
    if (use.kind !== 'refresh' || use.outcome !== 'done') continue
    const earlier = refreshed.get(use.token)
    if (earlier !== undefined) yield `${use.token} was accepted twice: ${describe(earlier)}; ${describe(use)}`
    refreshed.set(use.token, use)
  }
}

/** The operations that may have ended each token; a refresh ends the refresh token it uses. */
function endsByToken(operations: History['operations']): Map<string, TokenEnd[]> {
  const ends = new Map<string, TokenEnd[]>()
  for (const end of operations) {
    if (end.kind !== 'end' && end.kind !== 'refresh') continue
    for (const token of end.kind === 'end' ? end.tokens : [end.token])
      ends.set(token, [...(ends.get(token) ?? []), end])
  }
  return ends
}
