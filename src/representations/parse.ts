import { z } from 'zod'
import { findClosestName } from '../domain/dictionaries/edit-distance.ts'
import { FAULT_CODES, RequestError, type ErrorDetail, type FaultCode } from '../domain/request-error.ts'
import { isJsonObject, describeJsonType, parseText, pointerToken, jsonExcerpt, type ParseResult } from './json.ts'

/** Unknown members of one object that get a separate error. The limit keeps responses to large bodies small. */
const MAX_LISTED_MEMBERS = 50
const MAX_POINTER_NAME_LENGTH = 200
const MAX_MESSAGE_NAME_LENGTH = 60

/**
 * One error for each unknown member, with the known name that was probably meant.
 * @param at JSON Pointer of the object
 */
function unknownMembers(names: readonly string[], description: ObjectDescription, at: string): ErrorDetail[] {
  const objectName = description.name
  const faults: ErrorDetail[] = names.slice(0, MAX_LISTED_MEMBERS).map((name) => {
    const suggestion = closestMember(name, description)
    const hint = suggestion === undefined ? '' : `; did you mean ${suggestion}?`
    const pointer = `${at}/${pointerToken(name.slice(0, MAX_POINTER_NAME_LENGTH))}`
    const message = `${name.slice(0, MAX_MESSAGE_NAME_LENGTH)} is not a field of ${objectName}${hint}`
    return { pointer, message, code: 'unknown_field' }
  })
  const more = names.length - MAX_LISTED_MEMBERS
  if (more > 0) {
    const message = `${more} more members are not fields of ${objectName}`
    faults.push({ pointer: at, message, code: 'unknown_field' })
  }
  return faults
}

/** A member that was probably meant; one of an object inside is also found by its own name: `proportions.table` by `table`. */
function closestMember(name: string, { members, synonyms }: ObjectDescription): string | undefined {
  const synonymOf = synonyms?.get(lettersOf(name))
  if (synonymOf !== undefined && members.includes(synonymOf)) return synonymOf
  const ownNames = members.map((member) => member.slice(member.lastIndexOf('.') + 1))
  const [ofMembers, ofOwnNames] = [findClosestName(name, members), findClosestName(name, ownNames)]
  return ofMembers ?? members.find((_, index) => ownNames[index] === ofOwnNames)
}

/**
 * `name`: the kind of object for messages, such as `a v4 diamond`. `members`: its allowed members; those of an object inside
 * follow its name and a dot. `synonyms`: what others call members, by `lettersOf` the name.
 */
type ObjectDescription = {
  readonly name: string
  readonly members: readonly string[]
  readonly synonyms?: ReadonlyMap<string, string>
}

/** A name for comparison: `Stock #` and `stock` are equal. */
export const lettersOf = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')

/**
 * Parses a request's JSON with a schema. The schema's messages continue after a member's name: `must be true or false`.
 * @param at JSON Pointer to `input` in the body; '' for the body itself
 * @returns the value, or all errors
 */
export function parseInput<Value>(
  schema: z.ZodType<Value>,
  input: unknown,
  description: ObjectDescription,
  at = '',
): ParseResult<Value> {
  const { success, data, error } = schema.safeParse(input, { reportInput: true })
  if (success) return { value: data }
  return { errors: inOrderOf(input, error.issues).flatMap((issue) => toErrorDetails(issue, description, at)) }
}

/** Sorts issues by the order of members in the input; those of missing and unknown members come last. */
function inOrderOf(input: unknown, issues: readonly z.core.$ZodIssue[]): readonly z.core.$ZodIssue[] {
  const names = isJsonObject(input) ? Object.keys(input) : []
  const indexOf = ({ path: [name] }: z.core.$ZodIssue) => {
    const index = names.indexOf(String(name))
    return index < 0 ? names.length : index
  }
  return issues.toSorted((one, other) => indexOf(one) - indexOf(other))
}

/** @throws RequestError 'invalid' with all errors */
export function requireValid<Value>({ value, errors }: ParseResult<Value>): Value {
  if (errors !== undefined) throw new RequestError('invalid', errors)
  return value
}

function toErrorDetails(issue: z.core.$ZodIssue, description: ObjectDescription, at: string): ErrorDetail[] {
  const pointer = issue.path.reduce<string>((parent, part) => `${parent}/${pointerToken(String(part))}`, at)
  const path = issue.path.join('.')
  if (issue.code === 'unrecognized_keys')
    return unknownMembers(issue.keys, path === '' ? description : { ...description, name: path }, pointer)
  return [{ pointer, message: path === '' ? issue.message : `${path} ${issue.message}`, code: faultCodeOf(issue) }]
}

/** The code of an issue that was reported with its input. A schema's own checks name theirs by `issueOf`. */
export function faultCodeOf(issue: z.core.$ZodIssue): FaultCode {
  const { code, input } = issue
  if (code === 'custom') return FAULT_CODES.find((name) => name === issue.params?.['code']) ?? 'format'
  if (input === undefined || input === null) return 'required'
  if (code === 'too_big' || code === 'too_small' || input === Infinity || input === -Infinity) return 'range'
  const alternatives = code === 'invalid_union' ? issue.errors.flat() : [issue]
  const isOfListedType = alternatives.some(
    (one) => one.code === 'invalid_value' && one.values.some((value) => typeof value === typeof input),
  )
  if (isOfListedType) return 'unknown_value'
  return code === 'invalid_format' ? 'format' : 'type'
}

/** An issue for the `addIssue` of a schema's own check. */
export const issueOf = (code: FaultCode, message: string) => ({ code: 'custom', message, params: { code } }) as const

/** The code of a text that `parseText` refuses: too long, or blank or with control characters. */
export const textFaultCode = (max: number) => (text: string) => (text.trim().length > max ? 'range' : 'format')

type SchemaMessage = { readonly error: (issue: { readonly input?: unknown }) => string }

/**
 * The message for an invalid value.
 * @param expected what is expected, such as `true or false`
 * @param absentMessage the message for null and missing values
 */
export const mustBe = (expected: string, absentMessage = 'is required'): SchemaMessage => ({
  error: ({ input }) => (input === undefined || input === null ? absentMessage : mismatch(expected, input)),
})

const mismatch = (expected: string, value: unknown) => `must be ${expected}, got ${jsonExcerpt(value)}`

/** The message for a list that is too long. @param elements such as `values` */
export const atMost = (max: number, elements: string): SchemaMessage => ({
  error: ({ input }) => `may have at most ${max} ${elements}, got ${(input as readonly unknown[]).length}`,
})

/**
 * A schema with additional parsing.
 * @param parse returns undefined for an invalid value
 * @param expected what is expected
 * @param code of an invalid value
 */
export const parsedBy = <From, Value>(
  type: z.ZodType<From>,
  parse: (value: From) => Value | undefined,
  expected: string,
  code: FaultCode | ((value: From) => FaultCode),
) =>
  type.transform((value, context): Value => {
    const parsed = parse(value)
    if (parsed !== undefined) return parsed
    context.addIssue(issueOf(typeof code === 'string' ? code : code(value), mismatch(expected, value)))
    return z.NEVER
  })

/**
 * A JSON object with exactly these members.
 * @param name such as `a diamond`
 * @param example JSON, for the message if the value is not an object, and for the API reference
 */
export const objectSchema = <Shape extends z.core.$ZodLooseShape>(shape: Shape, name: string, example?: string) => {
  const expected = `${name} must be a JSON object${example === undefined ? '' : ` such as ${example}`}`
  const schema = z.strictObject(shape, {
    error: ({ code, input }) => (code === 'invalid_type' ? `${expected}, got ${describeJsonType(input)}` : undefined),
  })
  return example === undefined ? schema : schema.meta({ examples: [JSON.parse(example)] })
}

/** The example of a schema in the API reference, or of what it wraps. */
export function exampleOf(schema: z.core.$ZodType): unknown {
  const [example] = z.globalRegistry.get(schema)?.examples ?? []
  const { innerType } = schema._zod.def as { readonly innerType?: z.core.$ZodType }
  return example === undefined && innerType !== undefined ? exampleOf(innerType) : example
}

/** An object with the examples of its members. @param names default: all members that have one */
export const exampleObject = (
  shape: Readonly<Record<string, z.core.$ZodType>>,
  names: readonly string[] = Object.keys(shape),
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const example = shape[name] && exampleOf(shape[name])
      return example === undefined ? [] : [[name, example]]
    }),
  )

/** Members that the service assigns. They are ignored in requests, so that clients can send back what they read. */
export const assignedMembers = <Name extends string>(names: Iterable<Name>) =>
  Object.fromEntries(
    [...names].map((name) => [name, z.unknown().optional().describe('Assigned by the service; ignored here.')]),
  ) as Readonly<Record<Name, z.ZodOptional<z.ZodUnknown>>>

/**
 * A text, normalised by `parseText`.
 * @param max length in characters
 * @param expected for the message: what is expected
 * @param absentMessage the message for null and missing values
 */
export const textSchema = (max: number, expected: string, absentMessage?: string) =>
  parsedBy(
    z.string(mustBe(expected, absentMessage)).meta({ minLength: 1, maxLength: max }),
    (text) => parseText(text, max),
    expected,
    textFaultCode(max),
  )

const ID = `the id of a diamond, an integer from 1 to ${Number.MAX_SAFE_INTEGER}`

const MUST_BE_ID = mustBe(ID, `is required: ${ID}`)

export const DIAMOND_ID = z
  .int(MUST_BE_ID)
  .min(1, MUST_BE_ID)
  .describe('The id of a diamond.')
  .meta({ examples: [337] })

/** The diamond id in a member, even if the rest of the object is invalid; undefined if there is none. */
export const parseDiamondId = (input: unknown, member: string): number | undefined =>
  isJsonObject(input) ? DIAMOND_ID.safeParse(input[member]).data : undefined
