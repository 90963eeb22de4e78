import { isObject, kindOf, type Parsed } from '../diamond/input.ts'
import { shown } from '../diamond/shown.ts'
import { readText } from '../diamond/texts.ts'
import { nearest } from '../dictionaries/nearest.ts'
import type { Fault } from '../refusal.ts'
import { LABORATORIES, type Laboratory } from './certification.ts'

/** What a request to attach a report says, besides the report's file. */
export type CertificationInput = {
  readonly diamond: number
  readonly laboratory: Laboratory
  readonly number: string | null
}

const FIELDS = ['product', 'laboratory', 'number']

/** Assigned by the service; ignored on input, so that what was read can be sent back. */
const ASSIGNED: ReadonlySet<string> = new Set(['id', 'url', 'file', 'warnings'])

/** Characters of a laboratory's name that are looked at. */
const NAME_READ = 100

/** Characters of a report's number at most. */
const NUMBER_MAX = 64

/**
 * A certification to attach, from a request's JSON or from the text parts of a form. null is the same as absent.
 * @throws nothing: faults are returned, all of them
 */
export function parseCertification(input: unknown): Parsed<CertificationInput> {
  if (!isObject(input)) {
    return { faults: [{ pointer: '', message: `a certification is a JSON object, got ${kindOf(input)}` }] }
  }
  const faults = unknownFields(input)
  const diamond = product(input['product'], faults)
  const laboratory = laboratoryOf(input['laboratory'], faults)
  const number = numberOf(input['number'], faults)
  if (faults.length > 0 || diamond === undefined || laboratory === undefined) return { faults }
  return { value: { diamond, laboratory, number } }
}

/**
 * A form has only texts: its integer is read here, and an empty number is none.
 * @param parts the text parts of a form, by name
 */
export function fromForm(parts: ReadonlyMap<string, string>): Record<string, unknown> {
  const input: Record<string, unknown> = Object.fromEntries(parts)
  const text = parts.get('product')
  if (text !== undefined && /^\s*\d{1,16}\s*$/.test(text)) input['product'] = Number(text)
  if (parts.get('number') === '') input['number'] = null
  return input
}

/** Unknown fields that are named one by one; a body of nothing else must not make an answer of its size. */
const UNKNOWN_NAMED = 50

function unknownFields(input: Record<string, unknown>): Fault[] {
  const names = Object.keys(input).filter((name) => !FIELDS.includes(name) && !ASSIGNED.has(name))
  const faults = names.slice(0, UNKNOWN_NAMED).map((name) => {
    const near = nearest(name, [...FIELDS, 'file'])
    const hint = near === undefined ? '' : `; did you mean ${near}?`
    return { pointer: `/${escape(name)}`, message: `${name.slice(0, 60)} is no field of a certification${hint}` }
  })
  if (names.length <= UNKNOWN_NAMED) return faults
  return [
    ...faults,
    { pointer: '', message: `${names.length - UNKNOWN_NAMED} more fields are none of a certification` },
  ]
}

/** The diamond that a request names, whatever else is wrong with it; undefined where it names none. */
export function namedDiamond(input: unknown): number | undefined {
  return isObject(input) && isDiamondId(input['product']) ? input['product'] : undefined
}

const isDiamondId = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 1

function product(value: unknown, faults: Fault[]): number | undefined {
  if (isDiamondId(value)) return value
  const right = `the id of a diamond, an integer from 1 to ${Number.MAX_SAFE_INTEGER}`
  const message = isGiven(value) ? `product must be ${right}, got ${shown(value)}` : `product is required: ${right}`
  faults.push({ pointer: '/product', message })
  return undefined
}

function laboratoryOf(value: unknown, faults: Fault[]): Laboratory | undefined {
  const text = typeof value === 'string' ? value.slice(0, NAME_READ).trim() : value
  const found = LABORATORIES.find((laboratory) => laboratory === text)
  if (found !== undefined) return found
  const right = `one of ${LABORATORIES.join(', ')}`
  const message = isGiven(value)
    ? `laboratory must be ${right}, got ${shown(value)}`
    : `laboratory is required: ${right}`
  faults.push({ pointer: '/laboratory', message })
  return undefined
}

function numberOf(value: unknown, faults: Fault[]): string | null {
  if (!isGiven(value)) return null
  const text = readText(value, NUMBER_MAX)
  if (text !== undefined && PRINTABLE.test(text)) return text
  const message = `number must be a text of 1 to ${NUMBER_MAX} printable characters, got ${shown(value)}`
  faults.push({ pointer: '/number', message })
  return null
}

const PRINTABLE = /^[^\p{C}\p{Zl}\p{Zp}]+$/u

const isGiven = (value: unknown) => value !== undefined && value !== null

/** A JSON Pointer's token, RFC 6901. */
const escape = (name: string) => name.slice(0, 60).replaceAll('~', '~0').replaceAll('/', '~1')
