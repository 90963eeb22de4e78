import { randomInt } from 'node:crypto'
import type { Secrets } from '../../commands/secrets.ts'
import { shareSecret, type ShareSecret } from '../../commands/share-secret.ts'
import { Refusal } from '../../domain/refusal.ts'
import { checkRecipient } from '../../domain/secret/address.ts'
import { generated } from '../../domain/secret/generate.ts'
import { checkPassphrase, checkSecret, ttlInForce } from '../../domain/secret/limits.ts'
import { attributes, type Attributes } from '../../domain/secret/render.ts'
import { originFor, type Ctx, type SecretSender, type Step } from '../request.ts'
import { givenTo, type Given } from './parameters.ts'
import { flagOf, recipientOf, textOf, ttlOf } from './values.ts'

/** What a share is answered from. */
export type Ask = {
  readonly given: Given
  readonly sender: SecretSender | undefined
  readonly address: string
  readonly requestId: string
}

/** `share` and `create`: keeps the value that was sent. */
export const share =
  (secrets: Secrets): Step =>
  async (ctx) => {
    ctx.body = await shared(secrets, askOf(ctx))
  }

/**
 * Keeps the value of a `share`.
 * @returns the answer's body
 * @throws Refusal, StoreUnavailable, OutcomeUnknown
 */
export async function shared(secrets: Secrets, ask: Ask): Promise<Attributes> {
  const value = textOf(ask.given, 'secret')
  checkSecret(value, ask.sender?.plan ?? 'basic')
  return keep(secrets, ask, { value, kind: 'shared' })
}

/** `generate`: makes the value, and tells it to the sender this once. */
export const generate =
  (secrets: Secrets): Step =>
  async (ctx) => {
    const value = generated((limit) => randomInt(limit))
    ctx.body = { ...(await keep(secrets, askOf(ctx), { value, kind: 'generated' })), value }
  }

const askOf = (ctx: Ctx): Ask => {
  const { sender, requestId } = ctx.state
  return { given: givenTo(ctx), sender, address: ctx.ip, requestId }
}

async function keep(secrets: Secrets, ask: Ask, what: Pick<ShareSecret, 'value' | 'kind'>): Promise<Attributes> {
  const { given, sender, address, requestId } = ask
  const origin = originFor(sender?.account, requestId)
  const { passphrase, ttl, recipient, notify } = optionsOf(given, sender)
  const { value, kind } = what
  const wish = { value, kind, passphrase, ttl, recipient, notify, sender, address, origin }
  const { keys, secret } = await shareSecret(secrets, wish)
  if (secret.status === 'unknown') throw new Error('what was shared is not known')
  return attributes(secret, sender?.email ?? 'anon', keys, secrets.clock())
}

/** @throws Refusal */
function optionsOf(given: Given, sender: SecretSender | undefined) {
  const passphrase = textOf(given, 'passphrase')
  const ttl = ttlInForce(ttlOf(given))
  const recipient = recipientOf(given)
  const notify = flagOf(given, 'notify')
  if (sender === undefined && (recipient !== undefined || notify)) {
    throw new Refusal('invalid', 'An account is required to send emails.')
  }
  checkPassphrase(passphrase)
  if (recipient !== undefined) checkRecipient(recipient)
  return { passphrase, ttl, recipient, notify }
}
