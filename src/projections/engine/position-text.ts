import type { PositionOrStart, Position } from '../../stores/ports/event-store.ts'

/**
 * Positions as one short text, each as the difference from the previous one: hundreds of them are written with each
 * batch. `START` means the start of the log.
 */
const START = '-'

const BASE = 36

/** @param places in ascending order */
export function formatPositions(places: readonly PositionOrStart[]): string {
  let last = 0n
  const texts = places.map((place) => {
    if (place === 'start') return START
    const step = (place.commit - last).toString(BASE)
    const apart = place.prepare - place.commit
    last = place.commit
    return apart === 0n ? step : `${step}:${apart.toString(BASE)}`
  })
  return texts.join(' ')
}

export function parsePositions(text: string): PositionOrStart[] {
  let last = 0n
  return text.split(' ').map((one): PositionOrStart => {
    if (one === START) return 'start'
    const [step = '0', apart = '0'] = one.split(':')
    last += inBase(step)
    return { commit: last, prepare: last + inBase(apart) } satisfies Position
  })
}

/** Digits parsed at a time: what a number holds exactly. */
const DIGITS = 10

function inBase(text: string): bigint {
  if (text.startsWith('-')) return -inBase(text.slice(1))
  let value = 0n
  for (let from = 0; from < text.length; from += DIGITS) {
    const part = text.slice(from, from + DIGITS)
    value = value * BigInt(BASE) ** BigInt(part.length) + BigInt(Number.parseInt(part, BASE))
  }
  return value
}
