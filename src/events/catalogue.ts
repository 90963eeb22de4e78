import { z } from 'zod'
import { payloadVersionOf, type EventDeclaration } from '../domain/event.ts'
import type { StoredEvent } from '../stores/ports/event-store.ts'
import { decode, isDecodeError, UnsupportedEventVersion } from './decode.ts'
import { EVENTS } from './registry.ts'

/** A JSON Schema, draft 2020-12. */
export type JsonSchema = { readonly [keyword: string]: unknown }

/** One type of event, for people and for programs that read the log. */
export type CatalogueEntry = Pick<EventDeclaration, 'stream' | 'about'> & {
  /** What each version after the first one changed, by its number. */
  readonly changes: Readonly<Record<number, string>>
  readonly type: string
  /** The version of its payload that this release writes; it reads those before, too. */
  readonly version: number
  /** Members that no command prints: hashes, and what is sealed. */
  readonly notShown: readonly string[]
  /** Of the payload in this version. */
  readonly schema: JsonSchema
}

export type Catalogue = { readonly metadata: JsonSchema; readonly events: readonly CatalogueEntry[] }

/** What stands beside the payload of every event; values are texts. */
export const metadataSchema = z.object({
  actor: z
    .string()
    .describe('account-7, operator (the command line), anonymous, system, or the name of a follower such as scoring'),
  via: z.enum(['http', 'cli', 'projection', 'store']).describe('the way it came: projection is a follower of the log'),
  $correlationId: z
    .string()
    .optional()
    .describe('the request (X-Request-Id), or one run of a command; followers repeat it'),
  $causationId: z.string().optional().describe('id of the event that a follower acted on'),
  client: z.string().optional().describe('id of the OAuth client that an account came through'),
  osUser: z.string().optional().describe("the operating system's user behind a command"),
  traceparent: z
    .string()
    .regex(/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/)
    .optional()
    .describe('the trace that the request was a part of (W3C Trace Context); followers repeat it'),
  schema: z
    .string()
    .regex(/^[1-9]\d*$/)
    .describe("version of the payload, the type's own"),
  at: z.iso.datetime({ precision: 3 }).describe('when it was written, UTC; it never goes back within a stream'),
})

/** Every type of event that this release reads and writes. @param types only these */
export function catalogue(types: readonly string[] = Object.keys(EVENTS)): Catalogue {
  const events = Object.entries(EVENTS).flatMap(([type, event]) =>
    types.includes(type) ? [toCatalogueEntry(type, event)] : [],
  )
  return { metadata: jsonSchemaOf(metadataSchema), events }
}

function toCatalogueEntry(type: string, event: EventDeclaration): CatalogueEntry {
  const { stream, about, changes = [], notShown = [], payload } = event
  const told = Object.fromEntries(changes.map((change, at) => [at + 2, change.about]))
  return {
    type,
    version: payloadVersionOf(event),
    stream,
    about,
    changes: told,
    notShown,
    schema: jsonSchemaOf(payload),
  }
}

/** As events are read: members that are unknown are left out, not refused. Checks that JSON Schema has no word for are not in it. */
const jsonSchemaOf = (schema: z.ZodType): JsonSchema =>
  z.toJSONSchema(schema, { io: 'input', unrepresentable: 'throw', override: withoutSafeBounds }) as JsonSchema

/** That an integer is one that JSON can carry goes without saying. */
function withoutSafeBounds({ jsonSchema }: { readonly jsonSchema: { minimum?: number; maximum?: number } }): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
}

/** What stands in their place, so that a reader sees that there is something. */
export const REDACTED = '(not shown)'

/** An event's payload as people and their tools may see it. */
export function redactData(type: string, data: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const unshown = EVENTS[type]?.notShown ?? []
  if (unshown.length === 0) return data
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [name, unshown.includes(name) ? REDACTED : value]),
  )
}

/** An event for people and their tools. */
export type RedactedEvent = {
  /** Without what lets nobody in but helps who guesses. */
  readonly data: Readonly<Record<string, unknown>>
  /** Why this release does not understand it; undefined where it does. */
  readonly decodeError: string | undefined
}

/**
 * An event as people and their tools may see it. Of what a newer release wrote only the members' names are shown: which
 * of them are nobody's business is not known here.
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
