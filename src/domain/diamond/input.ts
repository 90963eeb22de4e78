import { nearest } from '../dictionaries/nearest.ts'
import type { Fault } from '../refusal.ts'
import { DEFAULTS, REQUIRED, type Change, type FieldName, type NewDiamond, type OptionalField } from './fields.ts'
import { readersOf, type ApiVersion, type Reader } from './readers.ts'

/** Assigned by the service; ignored on input, so that what was read can be sent back. */
const ASSIGNED: ReadonlySet<string> = new Set(['id', 'date', 'certifications', 'scores', '_links'])

export type Parsed<Value> =
  | { readonly value: Value; readonly faults?: undefined }
  | { readonly value?: undefined; readonly faults: readonly Fault[] }

/**
 * A diamond to create, from a request's JSON in v3 or v4 form. null is the same as absent.
 * @param at JSON Pointer of `input` in the body, '' for the body itself
 */
export function parseNewDiamond(version: ApiVersion, input: unknown, at: string): Parsed<NewDiamond> {
  const { change, faults } = readFields(version, input, at)
  for (const name of REQUIRED) {
    const given = isObject(input) && input[name] !== undefined && input[name] !== null
    if (isObject(input) && !given) faults.push({ pointer: `${at}/${name}`, message: `${name} is required` })
  }
  const { sku, cutShape, carat } = change.set
  if (faults.length > 0 || sku === undefined || cutShape === undefined || carat === undefined) return { faults }
  return { value: { ...change.set, sku, cutShape, carat } }
}

/** A change of a diamond: what is absent stays, null goes back to the default, sku, cutShape and carat can't be removed. */
export function parseChange(version: ApiVersion, input: unknown, at: string): Parsed<Change> {
  const { change, faults } = readFields(version, input, at)
  for (const name of REQUIRED) {
    if (isObject(input) && input[name] === null) {
      faults.push({ pointer: `${at}/${name}`, message: `${name} can't be removed; send a new value or leave it out` })
    }
  }
  return faults.length > 0 ? { faults } : { value: change }
}

function readFields(version: ApiVersion, input: unknown, at: string): { change: Change; faults: Fault[] } {
  const faults: Fault[] = []
  const set: Record<string, unknown> = {}
  const removed: OptionalField[] = []
  if (!isObject(input)) {
    return {
      change: { set, removed },
      faults: [{ pointer: at, message: `a diamond is a JSON object, got ${kindOf(input)}` }],
    }
  }
  const readers = readersOf(version)
  const unknown: string[] = []
  for (const name of Object.keys(input)) {
    const reader = readers.get(name)
    const value = input[name]
    if (reader === undefined) {
      if (!ASSIGNED.has(name)) unknown.push(name)
    } else if (value === null) {
      if (isOptional(name)) removed.push(name)
    } else {
      const problem = readInto(set, name, reader, value)
      if (problem !== undefined) faults.push({ pointer: `${at}/${name}`, message: `${name} ${problem}` })
    }
  }
  faults.push(...unknownFields(version, unknown, at))
  return { change: { set, removed }, faults }
}

/** @returns what is wrong with the value, if something is */
function readInto(set: Record<string, unknown>, name: string, reader: Reader, value: unknown): string | undefined {
  const result = reader(value)
  if ('problem' in result) return result.problem
  set[name] = result.value
  return undefined
}

/** Unknown fields of one diamond that are named one by one; a body of nothing else must not make an answer of its size. */
const UNKNOWN_NAMED = 50

function unknownFields(version: ApiVersion, names: readonly string[], at: string): Fault[] {
  const readers = readersOf(version)
  const faults = names.slice(0, UNKNOWN_NAMED).map((name) => ({
    pointer: `${at}/${pointerToken(name.slice(0, 200))}`,
    message: unknownField(version, name, readers),
  }))
  if (names.length > UNKNOWN_NAMED) {
    faults.push({
      pointer: at,
      message: `${names.length - UNKNOWN_NAMED} more fields are none of a ${version} diamond`,
    })
  }
  return faults
}

function unknownField(version: ApiVersion, name: string, readers: ReadonlyMap<string, Reader>): string {
  const shown = name.slice(0, 60)
  const near = nearest(name, [...readers.keys()])
  return `${shown} is no field of a ${version} diamond${near === undefined ? '' : `; did you mean ${near}?`}`
}

const isOptional = (name: string): name is OptionalField => name in DEFAULTS

/** A JSON Pointer's token, RFC 6901. */
export const pointerToken = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1')

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What a JSON value is, for a message. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

export type { ApiVersion, FieldName }
