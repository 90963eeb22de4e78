import type { Webhook } from '../domain/webhook/webhook.ts'
import { formatTime } from './json.ts'

/** A webhook in responses and in the output of commands, without its secrets. */
export const toWebhookBody = ({ id, url, description, state, created, error }: Webhook) => ({
  id,
  url,
  description,
  state,
  created: formatTime(created),
  error,
})
