import { randomInt } from 'node:crypto'
import type { Secrets } from '../../commands/secrets.ts'
import { shareSecret, type ShareSecret } from '../../commands/share-secret.ts'
import { Refusal } from '../../domain/refusal.ts'
import { checkRecipient } from '../../domain/secret/address.ts'
import { generated } from '../../domain/secret/generate.ts'
import { checkPassphrase, checkSecret, ttlInForce } from '../../domain/secret/limits.ts'
import { attributes } from '../../domain/secret/render.ts'
import type { Ctx, SecretSender, Step } from '../request.ts'
import { givenTo, type Given } from './parameters.ts'
import { secretOriginOf } from './sender.ts'
import { flagOf, recipientOf, textOf, ttlOf } from './values.ts'

/** `share` and `create`: keeps the value that was sent. */
export const share =
  (secrets: Secrets): Step =>
  async (ctx) => {
    const value = textOf(givenTo(ctx), 'secret')
    checkSecret(value, ctx.state.sender?.plan ?? 'basic')
    ctx.body = await answer(ctx, secrets, { value, kind: 'shared' })
  }

/** `generate`: makes the value, and tells it to the sender this once. */
export const generate =
  (secrets: Secrets): Step =>
  async (ctx) => {
    const value = generated((limit) => randomInt(limit))
    ctx.body = { ...(await answer(ctx, secrets, { value, kind: 'generated' })), value }
  }

async function answer(ctx: Ctx, secrets: Secrets, what: Pick<ShareSecret, 'value' | 'kind'>) {
  const { sender } = ctx.state
  const options = optionsOf(givenTo(ctx), sender)
  const { keys, secret } = await shareSecret(secrets, { ...what, ...options, sender, origin: secretOriginOf(ctx) })
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
