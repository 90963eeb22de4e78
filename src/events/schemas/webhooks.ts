import { z } from 'zod'
import { PAUSE_REASONS } from '../../domain/webhook/webhook.ts'
import { first } from './event-schema.ts'

const id = z.int().min(1).describe('of the webhook')
const url = z.string().describe('where messages are sent to')
const secret = z.string().describe('sealed with a key derived from the master key, for this webhook alone; base64url')
const cursor = z.string().describe('in the change feed of the account: everything up to it was taken')
const error = z.string().describe('what came of the last try, for people')
const description = z.string().nullable().describe('for people')
const time = z.int().describe('milliseconds since 1970, UTC')

export const webhookSchemas = {
  WebhookCreated: first(z.object({ id, url, description, secret, cursor, at: time })),
  WebhookChanged: first(z.object({ id, url: url.optional(), description: description.optional() })),
  WebhookSecretRotated: first(
    z.object({ id, secret, until: time.describe('so long those before it sign too: milliseconds since 1970, UTC') }),
  ),
  WebhookSecretsResealed: first(z.object({ id, secrets: z.array(secret).describe('the newest first') })),
  WebhookProgressed: first(z.object({ id, cursor })),
  WebhookFailing: first(z.object({ id, cursor, error })),
  WebhookRecovered: first(z.object({ id, cursor })),
  WebhookPaused: first(
    z.object({ id, why: z.enum(PAUSE_REASONS), cursor: cursor.nullable(), error: error.nullable() }),
  ),
  WebhookActivated: first(z.object({ id })),
  WebhookDeleted: first(z.object({ id })),
}
