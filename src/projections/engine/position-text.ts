import type { PositionOrStart, Position } from '../../stores/ports/event-store.ts'

/**
 * Positions as one short text, each as the difference from the previous one: hundreds of them are written with each
 * batch. `START` means the start of the log.
 */
const START = '-'

const BASE = 36

/** @param positions in ascending order */
export function formatPositions(positions: readonly PositionOrStart[]): string {
  let lastCommit = 0n
  const texts = positions.map((position) => {
    if (position === 'start') return START
    const commitDelta = (position.commit - lastCommit).toString(BASE)
    const prepareDelta = position.prepare - position.commit
    lastCommit = position.commit
    return prepareDelta === 0n ? commitDelta : `${commitDelta}:${prepareDelta.toString(BASE)}`
  })
  return texts.join(' ')
}

export function parsePositions(text: string): PositionOrStart[] {
  let lastCommit = 0n
  return text.split(' ').map((entry): PositionOrStart => {
    if (entry === START) return 'start'
    const [commitDelta = '0', prepareDelta = '0'] = entry.split(':')
    lastCommit += parseBigInt(commitDelta)
    return { commit: lastCommit, prepare: lastCommit + parseBigInt(prepareDelta) } satisfies Position
  })
}

/** Digits parsed at a time: what a number holds exactly. */
const DIGITS = 10

function parseBigInt(text: string): bigint {
  if (text.startsWith('-')) return -parseBigInt(text.slice(1))
  let value = 0n
  for (let from = 0; from < text.length; from += DIGITS) {
    const part = text.slice(from, from + DIGITS)
    value = value * BigInt(BASE) ** BigInt(part.length) + BigInt(Number.parseInt(part, BASE))
  }
  return value
}
