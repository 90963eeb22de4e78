import { z } from 'zod'
import type { ApiVersion } from '../../domain/diamond/field.ts'
import type { NewDiamond } from '../../domain/diamond/fields.ts'
import { RequestError, type ErrorDetail } from '../../domain/request-error.ts'
import {
  parseIdentifiedFieldChanges,
  parseNewDiamond,
  type IdentifiedFieldChanges,
} from '../../representations/diamond/parse-diamond.ts'
import { isJsonObject, type ParseResult } from '../../representations/json.ts'
import {
  atMost,
  DIAMOND_ID,
  exampleOf,
  parseDiamondId,
  mustBe,
  objectSchema,
  parseInput,
} from '../../representations/parse.ts'
import { NEW_DIAMOND } from '../../representations/diamond/schemas.ts'
import { mapInSlices } from '../../runtime/event-loop.ts'

const ENTRIES_MAX = 500

const EXPECTED_ENTRIES = `an array of 1 to ${ENTRIES_MAX} diamonds`

export const bulkSchema = (entry: z.ZodType) =>
  objectSchema(
    {
      entries: z
        .array(entry, mustBe(EXPECTED_ENTRIES))
        .min(1, `must be ${EXPECTED_ENTRIES}, got an empty array`)
        .max(ENTRIES_MAX, atMost(ENTRIES_MAX, 'diamonds')),
    },
    'a bulk request',
    `{"entries": [${JSON.stringify(exampleOf(entry))}]}`,
  )

/** Bulk requests whose entries are parsed one by one. */
const bulkOf = (example: unknown) => bulkSchema(z.unknown().meta({ examples: [example] }))
const BULK_OF_NEW = { v3: bulkOf(exampleOf(NEW_DIAMOND.v3)), v4: bulkOf(exampleOf(NEW_DIAMOND.v4)) }
const BULK_OF_IDS = bulkOf({ id: 337 })

export const DELETE_ENTRY = objectSchema({ id: DIAMOND_ID }, 'an entry', '{"id": 337}')

type IdEntry = { readonly id: number; readonly pointer: string }
type ChangeEntry = IdEntry & IdentifiedFieldChanges

/** The valid entries of a bulk request, the ids of all entries including invalid ones, and the errors. */
export type BulkEntries<Entry> = {
  readonly entries: readonly Entry[]
  readonly idEntries: readonly IdEntry[]
  readonly faults: readonly ErrorDetail[]
}

/** Parses the entries of a bulk create. @throws RequestError with the errors of all entries */
export async function parseNewEntries(version: ApiVersion, body: unknown): Promise<NewDiamond[]> {
  const { items, bodyFaults } = itemsOf(body, BULK_OF_NEW[version])
  const results = await mapInSlices(items, (entry, index) => parseNewDiamond(version, entry, pointerTo(index)))
  const faults = faultsOf(bodyFaults, results)
  if (faults.length > 0) throw new RequestError('invalid', faults)
  return valuesOf(results)
}

/** Parses the entries of a bulk modify. @throws RequestError if there are no entries, or too many */
export const parseChangeEntries = (version: ApiVersion, body: unknown): Promise<BulkEntries<ChangeEntry>> =>
  parseEntries(body, (entry, pointer) => parseIdentifiedFieldChanges(version, entry, pointer))

/** Parses the entries of a bulk delete. @throws RequestError if there are no entries, or too many */
export const parseIdEntries = (body: unknown): Promise<BulkEntries<IdEntry>> =>
  parseEntries(body, (entry, pointer) =>
    parseInput(DELETE_ENTRY, entry, { name: 'an entry to delete', members: ['id'] }, pointer),
  )

const pointerTo = (index: number) => `/entries/${index}`

/** Parses entries with ids. A repeated id is an error. */
async function parseEntries<Entry extends { readonly id: number }>(
  body: unknown,
  parse: (entry: unknown, pointer: string) => ParseResult<Entry>,
): Promise<BulkEntries<Entry & IdEntry>> {
  const { items, bodyFaults } = itemsOf(body, BULK_OF_IDS)
  const idEntries = new Map<number, IdEntry>()
  const results = await mapInSlices(items, (item, index): ParseResult<Entry & IdEntry> => {
    const pointer = pointerTo(index)
    const { value, errors = [] } = parse(item, pointer)
    const id = value === undefined ? parseDiamondId(item, 'id') : value.id
    if (id !== undefined && idEntries.has(id)) {
      const message = `id ${id} occurs in more than one entry`
      return { errors: [{ pointer: `${pointer}/id`, message, code: 'duplicate' }, ...errors] }
    }
    if (id !== undefined) idEntries.set(id, { id, pointer })
    return value === undefined ? { errors } : { value: { ...value, pointer } }
  })
  return { entries: valuesOf(results), idEntries: [...idEntries.values()], faults: faultsOf(bodyFaults, results) }
}

/** @throws RequestError invalid if `entries` is missing or not an array, too-large if there are too many */
function itemsOf(
  body: unknown,
  schema: ReturnType<typeof bulkSchema>,
): { readonly items: readonly unknown[]; readonly bodyFaults: readonly ErrorDetail[] } {
  const { value, errors = [] } = parseInput(schema, body, { name: 'a bulk request', members: ['entries'] })
  if (value !== undefined) return { items: value.entries, bodyFaults: [] }
  const items = isJsonObject(body) ? body['entries'] : undefined
  if (!Array.isArray(items) || errors.some(({ pointer }) => pointer === '/entries')) {
    throw new RequestError(Array.isArray(items) && items.length > ENTRIES_MAX ? 'too-large' : 'invalid', errors)
  }
  return { items, bodyFaults: errors }
}

/** Number of errors reported in full. Beyond it, only the first error of each invalid entry is reported. */
const MAX_REPORTED_FAULTS = 1_000

function faultsOf(
  bodyFaults: readonly ErrorDetail[],
  results: readonly ParseResult<unknown>[],
): readonly ErrorDetail[] {
  const faults = [...bodyFaults]
  for (const entry of results) faults.push(...limitFaults(entry.errors ?? [], faults.length))
  return faults
}

function valuesOf<Value>(results: readonly ParseResult<Value>[]): Value[] {
  return results.flatMap((entry) => (entry.value === undefined ? [] : [entry.value]))
}

/** @param reportedCount number of errors already reported */
function limitFaults(faults: readonly ErrorDetail[], reportedCount: number): readonly ErrorDetail[] {
  const [first] = faults
  if (first === undefined || reportedCount + faults.length <= MAX_REPORTED_FAULTS) return faults
  const more = faults.length - 1
  return [more === 0 ? first : { ...first, message: `${first.message}; ${more} more errors in this entry` }]
}
