import { Refusal } from '../../domain/refusal.ts'
import type { Given } from './parameters.ts'

/**
 * A parameter that is text; empty where it was not given.
 * @throws Refusal malformed when it stands twice, invalid when it is no text or has half a character
 */
export function textOf(given: Given, name: string): string {
  const value = oneOf(given, name)
  if (value === undefined) return ''
  if (typeof value !== 'string') throw new Refusal('invalid', `${name} must be text`)
  if (!value.isWellFormed()) {
    throw new Refusal('invalid', `${name} must be Unicode: it has half a surrogate pair, which UTF-8 can't hold`)
  }
  return value
}

/**
 * Seconds; undefined where none were given.
 * @throws Refusal invalid for what is no whole number, or negative
 */
export function ttlOf(given: Given): number | undefined {
  const value = oneOf(given, 'ttl')
  if (value === undefined || value === '') return undefined
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value
  if (typeof value === 'string' && !given.typed.has('ttl') && /^\s*\d+\s*$/.test(value)) return Number(value)
  throw new Refusal('invalid', 'ttl must be a whole number of seconds, 0 or more')
}

/**
 * The first address of one or a list; undefined where none was given.
 * @throws Refusal invalid
 */
export function recipientOf(given: Given): string | undefined {
  const values = (given.values.get('recipient') ?? []).flat().filter((value) => value !== null && value !== '')
  const [first] = values
  if (first === undefined) return undefined
  if (typeof first !== 'string') throw new Refusal('invalid', 'recipient must be an e-mail address')
  return first.trim() || undefined
}

/** @throws Refusal invalid */
export function flagOf(given: Given, name: string): boolean {
  const value = oneOf(given, name)
  if (value === undefined || value === '' || typeof value === 'boolean') return value === true
  if (typeof value === 'string' && !given.typed.has(name)) {
    if (value === 'true' || value === '1') return true
    if (value === 'false' || value === '0') return false
  }
  throw new Refusal('invalid', `${name} must be true or false`)
}

/** null in JSON is nothing. @throws Refusal malformed */
function oneOf(given: Given, name: string): unknown {
  const values = given.values.get(name) ?? []
  if (values.length > 1) throw new Refusal('malformed', `${name} is given ${values.length} times; give it once`)
  return values[0] ?? undefined
}
