import { z } from 'zod'
import { payloadVersionOf, type EventDeclaration } from '../domain/event.ts'
import type { StoredEvent } from '../stores/ports/event-store.ts'
import { decode, isDecodeError, UnsupportedEventVersion } from './decode.ts'
import { EVENTS } from './registry.ts'

/** @param types defaults to all event types that this release reads and writes */
export function catalogue(types: readonly string[] = Object.keys(EVENTS)): Catalogue {
  const events = Object.entries(EVENTS).flatMap(([type, event]) =>
    types.includes(type) ? [toCatalogueEntry(type, event)] : [],
  )
  return { metadata: jsonSchemaOf(metadataSchema), events }
}

function toCatalogueEntry(type: string, event: EventDeclaration): CatalogueEntry {
  const { stream, about, changes = [], notShown = [], payload } = event
  const changesByVersion = Object.fromEntries(changes.map((change, index) => [index + 2, change.about]))
  return {
    type,
    version: payloadVersionOf(event),
    stream,
    about,
    changes: changesByVersion,
    notShown,
    schema: jsonSchemaOf(payload),
  }
}

/**
 * The schema of payloads as they are read: unknown members are ignored. Checks that JSON Schema can't express are
 * missing.
 */
const jsonSchemaOf = (schema: z.ZodType): JsonSchema =>
  z.toJSONSchema(schema, { io: 'input', unrepresentable: 'throw', override: withoutSafeBounds }) as JsonSchema

/** Omits the bounds of safe integers, which would be noise. */
function withoutSafeBounds({ jsonSchema }: { readonly jsonSchema: { minimum?: number; maximum?: number } }): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
}

type RedactedEvent = {
  /** Without hashes and sealed values, which would help an attacker to guess. */
  readonly data: Readonly<Record<string, unknown>>
  /** Why this release can't decode the event; undefined if it can. */
  readonly decodeError: string | undefined
}

/**
 * Redacts an event. Of an event from a newer release only the members' names are shown, because it is unknown which of
 * them are confidential.
 */
export function redactEvent(event: StoredEvent): RedactedEvent {
  const { type, data } = event
  try {
    decode(event)
    return { data: redactData(type, data), decodeError: undefined }
  } catch (error) {
    if (!isDecodeError(error)) throw error
    const isNewer = error instanceof UnsupportedEventVersion
    return { data: isNewer ? namesOnly(data) : redactData(type, data), decodeError: error.message }
  }
}

const namesOnly = (data: StoredEvent['data']) => Object.fromEntries(Object.keys(data).map((name) => [name, REDACTED]))

export type JsonSchema = { readonly [keyword: string]: unknown }

export type CatalogueEntry = Pick<EventDeclaration, 'stream' | 'about'> & {
  /** What changed, by version number, from version 2 on. */
  readonly changes: Readonly<Record<number, string>>
  readonly type: string
  /** The payload version that this release writes. It also reads all earlier ones. */
  readonly version: number
  /** Members that are redacted in all output: hashes and sealed values. */
  readonly notShown: readonly string[]
  readonly schema: JsonSchema
}

export type Catalogue = { readonly metadata: JsonSchema; readonly events: readonly CatalogueEntry[] }

/** Metadata of every event. All values are strings. */
export const metadataSchema = z.object({
  actor: z
    .string()
    .describe(
      'account-7, operator (the command line), anonymous, system, or the name of a reaction or projection such as scoring',
    ),
  via: z
    .enum(['http', 'cli', 'projection', 'store'])
    .describe('the source of the command; projection: a projection or reaction'),
  $correlationId: z
    .string()
    .optional()
    .describe('id of the request (X-Request-Id) or of the command-line run; reactions copy it'),
  $causationId: z.string().optional().describe('id of the event that a reaction handled'),
  client: z.string().optional().describe('id of the OAuth client that made the request for the account'),
  osUser: z.string().optional().describe('the operating system user who ran the command'),
  traceparent: z
    .string()
    .regex(/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/)
    .optional()
    .describe('trace context of the request (W3C Trace Context); reactions copy it'),
  schema: z
    .string()
    .regex(/^[1-9]\d*$/)
    .describe('version of the payload, per event type'),
  at: z.iso.datetime({ precision: 3 }).describe('when it was appended, UTC; never decreases within a stream'),
})

/** Replaces redacted values, to show that there is one. */
export const REDACTED = '(not shown)'

/** An event's payload without the members that must not be shown. */
export function redactData(type: string, data: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const redactedNames = EVENTS[type]?.notShown ?? []
  if (redactedNames.length === 0) return data
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [name, redactedNames.includes(name) ? REDACTED : value]),
  )
}
