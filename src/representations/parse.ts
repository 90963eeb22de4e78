import { z } from 'zod'
import { findClosestName } from '../domain/dictionaries/edit-distance.ts'
import { RequestError, type ErrorDetail } from '../domain/decider.ts'
import { isJsonObject, describeJsonType, pointerToken, jsonExcerpt, type ParseResult } from './json.ts'

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
function unknownMembers(names: readonly string[], of: string, known: readonly string[], at: string): ErrorDetail[] {
  const faults: ErrorDetail[] = names.slice(0, NAMED).map((name) => {
    const near = findClosestName(name, known)
    const hint = near === undefined ? '' : `; did you mean ${near}?`
    const pointer = `${at}/${pointerToken(name.slice(0, IN_POINTER))}`
    return { pointer, message: `${name.slice(0, IN_MESSAGE)} is no field of ${of}${hint}` }
  })
  const more = names.length - NAMED
  if (more > 0) faults.push({ pointer: at, message: `${more} more fields are none of ${of}` })
  return faults
}

/** What messages call an object, such as `a v4 diamond`, and the members that it may have. */
export type ObjectDescription = { readonly of: string; readonly known: readonly string[] }

/**
 * Parses a request's JSON by its schema, whose messages go on behind the name of a member: `must be true or false`.
 * @param at JSON Pointer of `input` in the body, '' for the body itself
 * @returns the value, or all that is wrong with it
 */
export function parseInput<Value>(
  schema: z.ZodType<Value>,
  input: unknown,
  named: ObjectDescription,
  at = '',
): ParseResult<Value> {
  const { success, data, error } = schema.safeParse(input)
  if (success) return { value: data }
  return { errors: inOrderOf(input, error.issues).flatMap((issue) => toErrorDetails(issue, named, at)) }
}

/** Issues in the order in which their members were sent; what is missing, or one too many, comes last. */
function inOrderOf(input: unknown, issues: readonly z.core.$ZodIssue[]): readonly z.core.$ZodIssue[] {
  const names = isJsonObject(input) ? Object.keys(input) : []
  const placeOf = ({ path: [name] }: z.core.$ZodIssue) => {
    const place = names.indexOf(String(name))
    return place < 0 ? names.length : place
  }
  return issues.toSorted((one, other) => placeOf(one) - placeOf(other))
}

/** @throws Refusal invalid, with all that is wrong */
export function requireValid<Value>({ value, errors }: ParseResult<Value>): Value {
  if (errors !== undefined) throw new RequestError('invalid', errors)
  return value
}

function toErrorDetails(issue: z.core.$ZodIssue, { of, known }: ObjectDescription, at: string): ErrorDetail[] {
  const pointer = issue.path.reduce<string>((parent, part) => `${parent}/${pointerToken(String(part))}`, at)
  if (issue.code === 'unrecognized_keys') return unknownMembers(issue.keys, of, known, pointer)
  return [{ pointer, message: [...issue.path, issue.message].join(' ') }]
}

type SchemaMessage = { readonly error: (issue: { readonly input?: unknown }) => string }

/**
 * What a schema says of a value that is not right.
 * @param right what would be, such as `true or false`
 * @param absent what is said of null, and where there is no value
 */
export const mustBe = (right: string, absent = 'is required'): SchemaMessage => ({
  error: ({ input }) => (input === undefined || input === null ? absent : mismatch(right, input)),
})

const mismatch = (right: string, value: unknown) => `must be ${right}, got ${jsonExcerpt(value)}`

/** What a schema says of a list that is too long. @param of what the list has, such as `values` */
export const atMost = (most: number, of: string): SchemaMessage => ({
  error: ({ input }) => `may have at most ${most} ${of}, got ${(input as readonly unknown[]).length}`,
})

/**
 * A schema of what a type alone can't tell.
 * @param read returns undefined for a value that is not right
 * @param right what would be right
 */
export const parsedBy = <From, Value>(type: z.ZodType<From>, read: (value: From) => Value | undefined, right: string) =>
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
export const objectSchema = <Shape extends z.core.$ZodLooseShape>(shape: Shape, name: string, example?: string) => {
  const right = `${name} is a JSON object${example === undefined ? '' : ` such as ${example}`}`
  return z.strictObject(shape, {
    error: ({ code, input }) => (code === 'invalid_type' ? `${right}, got ${describeJsonType(input)}` : undefined),
  })
}

/** Members that the service assigns: ignored on input, so that what was read can be sent back. */
export const assignedMembers = <Name extends string>(names: Iterable<Name>) =>
  Object.fromEntries(
    [...names].map((name) => [name, z.unknown().optional().describe('Assigned by the service; ignored here.')]),
  ) as Readonly<Record<Name, z.ZodOptional<z.ZodUnknown>>>

const ID = `the id of a diamond, an integer from 1 to ${Number.MAX_SAFE_INTEGER}`

const MUST_BE_ID = mustBe(ID, `is required: ${ID}`)

/** The id of a diamond, in JSON. */
export const DIAMOND_ID = z.int(MUST_BE_ID).min(1, MUST_BE_ID).describe('The id of a diamond.')

/** The diamond that a member names, whatever else is wrong with its object; undefined where it names none. */
export const parseDiamondId = (input: unknown, member: string): number | undefined =>
  isJsonObject(input) ? DIAMOND_ID.safeParse(input[member]).data : undefined
