import { Refusal } from '../../domain/refusal.ts'
import type { Given } from './parameters.ts'

/**
 * A parameter that is text; empty where it was not given.
 * @throws Refusal invalid when it is no text or has half a character
 */
export function textOf(given: Given, name: string): string {
  const value = lastOf(given, name)
  if (value === undefined) return ''
  if (typeof value !== 'string') throw new Refusal('invalid', `${name} must be text`)
  if (!value.isWellFormed()) {
    throw new Refusal('invalid', `${name} must be Unicode: it has half a surrogate pair, which UTF-8 can't hold`)
  }
  return value
}

/** As numbers are written: a sign, digits, a fraction, an exponent. */
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i

/**
 * Seconds; undefined where none were given. A number is read from whatever it stands in, as the original does, and one out
 * of bounds is no fault: what is in force is for the domain to say.
 * @throws Refusal invalid for what is no number
 */
export function ttlOf(given: Given): number | undefined {
  const value = lastOf(given, 'ttl')
  if (value === undefined) return undefined
  if (typeof value === 'number') return value
  const text = typeof value === 'string' ? value.trim() : undefined
  if (text === '') return undefined
  if (text !== undefined && NUMBER.test(text)) return Number(text)
  throw new Refusal('invalid', 'ttl must be a number of seconds')
}

/** The names under which forms send a list, by Rack's and PHP's conventions. */
const RECIPIENTS = /^recipient(?:\[\d*\])?$/

/**
 * The addresses of one, or of a list (`recipient[]`, a JSON array), each once; of one that is given twice the last counts.
 * @throws Refusal invalid
 */
export function recipientsOf(given: Given): string[] {
  const names = [...given.values.keys()].filter((name) => RECIPIENTS.test(name))
  const values = names.flatMap((name) =>
    name === 'recipient[]' ? (given.values.get(name) ?? []) : lastOf(given, name),
  )
  const addresses = values.flat().flatMap((value) => {
    if (value === null || value === undefined) return []
    if (typeof value !== 'string')
      throw new Refusal('invalid', 'recipient must be an e-mail address, or a list of them')
    return value.trim() === '' ? [] : [value.trim()]
  })
  return [...new Set(addresses)]
}

/** @throws Refusal invalid */
export function flagOf(given: Given, name: string): boolean {
  const value = lastOf(given, name)
  if (value === undefined || value === '' || typeof value === 'boolean') return value === true
  if (typeof value === 'string' && !given.typed.has(name)) {
    if (value === 'true' || value === '1') return true
    if (value === 'false' || value === '0') return false
  }
  throw new Refusal('invalid', `${name} must be true or false`)
}

/** Of a parameter that is given twice the last one counts, as with Rack; null in JSON is nothing. */
const lastOf = (given: Given, name: string): unknown => given.values.get(name)?.at(-1) ?? undefined
