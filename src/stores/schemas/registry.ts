import type { z } from 'zod'
import { accountSchemas } from './accounts.ts'
import { certificationSchemas } from './certification.ts'
import { clientSchemas } from './clients.ts'
import { diamondSchemas } from './diamond.ts'
import { linkKeySchemas } from './link-key.ts'
import { idsSchemas } from './ids.ts'
import { requestSchemas } from './requests.ts'
import { movingSchemas } from './moving.ts'
import { restoringSchemas } from './restoring.ts'
import { retrySchemas } from './retries.ts'
import { secretSchemas } from './secret.ts'
import { sessionSchemas } from './sessions.ts'

type Payload = Readonly<Record<string, unknown>>

export type EventSchema = {
  /** The version that this release writes. */
  readonly version: number
  readonly payload: z.ZodType<object>
  /** upcasters[n] lifts a payload from version n + 1 to n + 2. */
  readonly upcasters: readonly ((data: Payload) => Payload)[]
}

/** Every event type there is, by its stored name. Names never change; shapes change with a version and an upcaster. */
export const schemas: Readonly<Record<string, EventSchema>> = {
  ...accountSchemas,
  ...certificationSchemas,
  ...clientSchemas,
  ...diamondSchemas,
  ...idsSchemas,
  ...linkKeySchemas,
  ...requestSchemas,
  ...movingSchemas,
  ...restoringSchemas,
  ...retrySchemas,
  ...secretSchemas,
  ...sessionSchemas,
}
