import type { z } from 'zod'
import type { EventType, PayloadOf } from './known-event.ts'
import { accountSchemas } from './schemas/accounts.ts'
import { certificationSchemas } from './schemas/certification.ts'
import { clientSchemas } from './schemas/clients.ts'
import { diamondSchemas } from './schemas/diamond.ts'
import type { EventSchema } from './schemas/event-schema.ts'
import { evidenceSchemas, installationSchemas, requestSchemas } from './schemas/installation.ts'
import { secretSchemas } from './schemas/secret.ts'
import { sessionSchemas } from './schemas/sessions.ts'
import { webhookSchemas } from './schemas/webhooks.ts'

/**
 * Whether a type and what a schema lets through have the same members, down to the last one. Assignability alone would
 * not tell: a schema that lacks an optional member fits its type, and strips that member from every event.
 */
export type Same<A, B> = [Shape<A>] extends [Shape<B>] ? ([Shape<B>] extends [Shape<A>] ? true : false) : false

/** A type with its optional members apart, and without what does not survive JSON: readonly, undefined. */
type Shape<Type> = Type extends string | number | boolean | null | undefined
  ? Type
  : Type extends readonly (infer Element)[]
    ? readonly Shape<Element>[]
    : {
        readonly required: { readonly [Name in Required<Type>]: Shape<Type[Name]> }
        readonly optional: { readonly [Name in Optional<Type>]: Shape<Exclude<Type[Name], undefined>> }
      }

type Optional<Type> = { [Name in keyof Type]-?: object extends Pick<Type, Name> ? Name : never }[keyof Type]
type Required<Type> = Exclude<keyof Type, Optional<Type>>

const all = {
  ...accountSchemas,
  ...certificationSchemas,
  ...clientSchemas,
  ...diamondSchemas,
  ...evidenceSchemas,
  ...installationSchemas,
  ...requestSchemas,
  ...secretSchemas,
  ...sessionSchemas,
  ...webhookSchemas,
}

/** Every event type there is, by its stored name. Names never change; shapes change with a version and an upcaster. */
export const schemas: Readonly<Record<string, EventSchema>> = all

type Schemas = typeof all

/** Event types without a schema, schemas without an event type, and those of which the two differ. */
export type Differing =
  | Exclude<EventType, keyof Schemas>
  | Exclude<keyof Schemas, EventType>
  | {
      [Type in EventType & keyof Schemas]: Same<z.output<Schemas[Type]['payload']>, PayloadOf<Type>> extends true
        ? never
        : Type
    }[EventType & keyof Schemas]

/** Where this does not compile, the message names the event type: its schema and its type in src/domain differ. */
const DIFFERING: [Differing] extends [never] ? 'none' : Differing = 'none'
void DIFFERING

/** False for types of newer releases, and of others who write to the same server. */
export const isKnownType = (type: string): boolean => schemas[type] !== undefined

/**
 * The version of a type's payload that this release writes.
 * @throws Error for a type without a schema: it could not be read again
 */
export function writtenVersion(type: string): number {
  const known = schemas[type]
  if (known === undefined) throw new Error(`${type} has no schema in src/events/schemas, so it must not be written`)
  return known.version
}
