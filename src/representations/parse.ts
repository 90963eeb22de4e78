import { z } from 'zod'
import { nearest } from '../domain/dictionaries/nearest.ts'
import { Refusal, type Fault } from '../domain/decider.ts'
import { isObject, kindOf, pointerToken, shown, type Parsed } from './json.ts'

/** Members of one object that are named one by one; a body of nothing else must not make an answer of its size. */
const NAMED = 50
/** Characters of a name that a pointer and a message repeat. */
const IN_POINTER = 200
const IN_MESSAGE = 60

/**
 * A fault for each member that an object should not have, with the nearest one that it may have.
 * @param of what the object is, such as `a v4 diamond`
 * @param at JSON Pointer of the object
 */
function unknownMembers(names: readonly string[], of: string, known: readonly string[], at: string): Fault[] {
  const faults: Fault[] = names.slice(0, NAMED).map((name) => {
    const near = nearest(name, known)
    const hint = near === undefined ? '' : `; did you mean ${near}?`
    const pointer = `${at}/${pointerToken(name.slice(0, IN_POINTER))}`
    return { pointer, message: `${name.slice(0, IN_MESSAGE)} is no field of ${of}${hint}` }
  })
  const more = names.length - NAMED
  if (more > 0) faults.push({ pointer: at, message: `${more} more fields are none of ${of}` })
  return faults
}

/** What messages call an object, such as `a v4 diamond`, and the members that it may have. */
export type Named = { readonly of: string; readonly known: readonly string[] }

/**
 * Parses a request's JSON by its schema, whose messages go on behind the name of a member: `must be true or false`.
 * @param at JSON Pointer of `input` in the body, '' for the body itself
 * @returns the value, or all that is wrong with it
 */
export function parse<Value>(schema: z.ZodType<Value>, input: unknown, named: Named, at = ''): Parsed<Value> {
  const { success, data, error } = schema.safeParse(input)
  if (success) return { value: data }
  return { faults: inOrderOf(input, error.issues).flatMap((issue) => faultsOf(issue, named, at)) }
}

/** Issues in the order in which their members were sent; what is missing, or one too many, comes last. */
function inOrderOf(input: unknown, issues: readonly z.core.$ZodIssue[]): readonly z.core.$ZodIssue[] {
  const names = isObject(input) ? Object.keys(input) : []
  const placeOf = ({ path: [name] }: z.core.$ZodIssue) => {
    const place = names.indexOf(String(name))
    return place < 0 ? names.length : place
  }
  return issues.toSorted((one, other) => placeOf(one) - placeOf(other))
}

/** @throws Refusal invalid, with all that is wrong */
export function accepted<Value>({ value, faults }: Parsed<Value>): Value {
  if (faults !== undefined) throw new Refusal('invalid', faults)
  return value
}

function faultsOf(issue: z.core.$ZodIssue, { of, known }: Named, at: string): Fault[] {
  const pointer = issue.path.reduce<string>((parent, part) => `${parent}/${pointerToken(String(part))}`, at)
  if (issue.code === 'unrecognized_keys') return unknownMembers(issue.keys, of, known, pointer)
  return [{ pointer, message: [...issue.path, issue.message].join(' ') }]
}

type Says = { readonly error: (issue: { readonly input?: unknown }) => string }

/**
 * What a schema says of a value that is not right.
 * @param right what would be, such as `true or false`
 * @param absent what is said of null, and where there is no value
 */
export const must = (right: string, absent = 'is required'): Says => ({
  error: ({ input }) => (input === undefined || input === null ? absent : mismatch(right, input)),
})

const mismatch = (right: string, value: unknown) => `must be ${right}, got ${shown(value)}`

/** What a schema says of a list that is too long. @param of what the list has, such as `values` */
export const atMost = (most: number, of: string): Says => ({
  error: ({ input }) => `may have at most ${most} ${of}, got ${(input as readonly unknown[]).length}`,
})

/**
 * A schema of what a type alone can't tell.
 * @param read returns undefined for a value that is not right
 * @param right what would be right
 */
export const readBy = <From, Value>(type: z.ZodType<From>, read: (value: From) => Value | undefined, right: string) =>
  type.transform((value, context): Value => {
    const found = read(value)
    if (found !== undefined) return found
    context.addIssue(mismatch(right, value))
    return z.NEVER
  })

/**
 * A JSON object that has these members, and no others.
 * @param name what it is, such as `a diamond`
 * @param example of it, for what is none
 */
export const objectOf = <Shape extends z.core.$ZodLooseShape>(shape: Shape, name: string, example?: string) => {
  const right = `${name} is a JSON object${example === undefined ? '' : ` such as ${example}`}`
  return z.strictObject(shape, {
    error: ({ code, input }) => (code === 'invalid_type' ? `${right}, got ${kindOf(input)}` : undefined),
  })
}

/** Members that the service assigns: ignored on input, so that what was read can be sent back. */
export const assigned = <Name extends string>(names: Iterable<Name>) =>
  Object.fromEntries(
    [...names].map((name) => [name, z.unknown().optional().describe('Assigned by the service; ignored here.')]),
  ) as Readonly<Record<Name, z.ZodOptional<z.ZodUnknown>>>

const ID = `the id of a diamond, an integer from 1 to ${Number.MAX_SAFE_INTEGER}`

const MUST_BE_ID = must(ID, `is required: ${ID}`)

/** The id of a diamond, in JSON. */
export const DIAMOND_ID = z.int(MUST_BE_ID).min(1, MUST_BE_ID).describe('The id of a diamond.')

/** The diamond that a member names, whatever else is wrong with its object; undefined where it names none. */
export const diamondIn = (input: unknown, member: string): number | undefined =>
  isObject(input) ? DIAMOND_ID.safeParse(input[member]).data : undefined
