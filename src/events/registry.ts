import type { z } from 'zod'
import { accountSchemas } from './accounts.ts'
import { certificationSchemas } from './certification.ts'
import { clientSchemas } from './clients.ts'
import { diamondSchemas } from './diamond.ts'
import type { EventSchema } from './event-schema.ts'
import { evidenceSchemas } from './evidence.ts'
import { joiningSchemas } from './joining.ts'
import { linkKeySchemas } from './link-key.ts'
import { personKeySchemas } from './person-key.ts'
import { idsSchemas } from './ids.ts'
import type { EventType, PayloadOf } from './known-event.ts'
import { requestSchemas } from './requests.ts'
import { movingSchemas } from './moving.ts'
import { restoringSchemas } from './restoring.ts'
import { retrySchemas } from './retries.ts'
import type { Same } from './same-payload.ts'
import { secretSchemas } from './secret.ts'
import { sessionSchemas } from './sessions.ts'
import { webhookSchemas } from './webhooks.ts'

const all = {
  ...accountSchemas,
  ...certificationSchemas,
  ...clientSchemas,
  ...diamondSchemas,
  ...evidenceSchemas,
  ...idsSchemas,
  ...joiningSchemas,
  ...linkKeySchemas,
  ...personKeySchemas,
  ...requestSchemas,
  ...movingSchemas,
  ...restoringSchemas,
  ...retrySchemas,
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
  if (known === undefined) throw new Error(`${type} has no schema in src/events, so it must not be written`)
  return known.version
}
