import { z } from 'zod'
import { Refusal, type Fault } from '../../domain/refusal.ts'
import { secondsOf } from './dates.ts'

/** Values of one filter at most. */
export const VALUES_MAX = 1_000

/** Yes or no, for documents. */
export const FLAG = z
  .enum(['0', '1', 'false', 'true'])
  .meta({ id: 'YesOrNo', 'x-enum-varnames': ['NO', 'YES', 'FALSE', 'TRUE'] })

/** Faults by what they are: what can't be parsed is 400, what is parsed and not acceptable 422. */
export type Faults = { malformed: Fault[]; invalid: Fault[] }
export type Parameters = ReadonlyMap<string, readonly string[]>

/** @throws Refusal where there are any */
export function refuse({ malformed, invalid }: Faults): void {
  if (malformed.length > 0) throw new Refusal('malformed', [...malformed, ...invalid])
  if (invalid.length > 0) throw new Refusal('invalid', invalid)
}

/** Repeatable filters: `f[id][]=1&f[id][]=2`; the brackets at the end may be left out. */
export function several(parameters: Parameters, name: string, faults: Faults): string[] | undefined {
  const values = new Set([...(parameters.get(`${name}[]`) ?? []), ...(parameters.get(name) ?? [])])
  if (values.size > VALUES_MAX) {
    faults.invalid.push({
      pointer: `${name}[]`,
      message: `${name}[] may have at most ${VALUES_MAX} values, got ${values.size}`,
    })
  }
  return values.size === 0 ? undefined : [...values]
}

/** A parameter that may stand once. */
export function single(parameters: Parameters, name: string, faults: Faults): string | undefined {
  const values = parameters.get(name)
  if (values !== undefined && values.length > 1) {
    faults.malformed.push({ pointer: name, message: `${name} may stand once, it stands ${values.length} times` })
    return undefined
  }
  return values?.[0]
}

type Bounds = { readonly min: number; readonly max: number }

export function whole(
  parameters: Parameters,
  name: string,
  unset: number,
  { min, max }: Bounds,
  faults: Faults,
): number {
  const text = single(parameters, name, faults)
  if (text === undefined) return unset
  if (!/^-?\d+$/.test(text)) {
    faults.malformed.push({ pointer: name, message: `${name} must be a whole number, got ${text.slice(0, 40)}` })
    return unset
  }
  const value = Number(text)
  if (value < min || value > max) {
    faults.invalid.push({ pointer: name, message: `${name} must be from ${min} to ${max}, got ${text.slice(0, 40)}` })
  }
  return value
}

/** A number as JSON has it; with a comma it is none. */
export function number(parameters: Parameters, name: string, faults: Faults): number | undefined {
  const text = single(parameters, name, faults)
  if (text === undefined) return undefined
  const value = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text) ? Number(text) : NaN
  if (Number.isFinite(value)) return value
  const message = `${name} must be a number such as 1.2, got ${text.slice(0, 40)}`
  if (Number.isNaN(value)) faults.malformed.push({ pointer: name, message })
  else faults.invalid.push({ pointer: name, message })
  return undefined
}

export function flag(parameters: Parameters, name: string, faults: Faults): boolean | undefined {
  const text = single(parameters, name, faults)
  if (text === undefined) return undefined
  const small = text.toLowerCase()
  if (small === '1' || small === 'true') return true
  if (small === '0' || small === 'false') return false
  faults.malformed.push({ pointer: name, message: `${name} must be 1, 0, true or false, got ${text.slice(0, 40)}` })
  return undefined
}

export function date(parameters: Parameters, name: string, faults: Faults): number | undefined {
  const text = single(parameters, name, faults)
  if (text === undefined) return undefined
  const seconds = secondsOf(text)
  if (seconds === 'malformed') {
    const message = `${name} must be a date-time such as 20150809T183142+0330 or 2015-08-09T18:31:42+03:30, got ${text.slice(0, 40)}`
    faults.malformed.push({ pointer: name, message })
    return undefined
  }
  if (seconds === 'out of range') {
    faults.invalid.push({ pointer: name, message: `${name} is no date of the calendar, got ${text.slice(0, 40)}` })
    return undefined
  }
  return seconds
}
