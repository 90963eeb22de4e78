import { randomInt } from 'node:crypto'
import type { Secrets } from '../../commands/secrets/secrets.ts'
import { shareSecret, type ShareSecret } from '../../commands/secrets/share-secret.ts'
import type { MailLimits } from '../../credentials/mail-limits.ts'
import { Refusal } from '../../domain/refusal.ts'
import { checkRecipient } from '../../domain/secret/address.ts'
import { generated } from '../../domain/secret/generate.ts'
import { checkPassphrase, checkSecret, RECIPIENTS, ttlInForce } from '../../domain/secret/limits.ts'
import { attributes, type Attributes } from '../../domain/secret/render.ts'
import { OutcomeUnknown } from '../../stores/ports/event-store.ts'
import { originFor, type Ctx, type SecretSender, type Step } from '../kit/request.ts'
import { GenerateParameters, ShareParameters, type SharingOptions } from './parameters.ts'

/** What a share is answered from. */
export type Ask<Given extends SharingOptions> = {
  readonly given: Given
  readonly sender: SecretSender | undefined
  readonly address: string
  readonly requestId: string
}

/** What sharing takes, wherever the request comes in. */
export type Sharing = { readonly secrets: Secrets; readonly mailLimits: MailLimits }

/** `share` and `create`: keeps the value that was sent. */
export const share =
  (sharing: Sharing): Step =>
  async (ctx) => {
    ctx.body = await shared(sharing, askOf(ctx, await ShareParameters.read(ctx.req, ctx.querystring)))
  }

/**
 * Keeps the value of a `share`.
 * @returns the answer's body
 * @throws Refusal, StoreUnavailable, OutcomeUnknown
 */
export async function shared(sharing: Sharing, ask: Ask<SharingOptions & { secret: string }>): Promise<Attributes> {
  const value = ask.given.secret
  checkSecret(value, ask.sender?.plan ?? 'basic')
  return keep(sharing, ask, { value, kind: 'shared' })
}

/** `generate`: makes the value, and tells it to the sender this once. */
export const generate =
  (sharing: Sharing): Step =>
  async (ctx) => {
    const ask = askOf(ctx, await GenerateParameters.read(ctx.req, ctx.querystring))
    const value = generated((limit) => randomInt(limit))
    ctx.body = { ...(await keep(sharing, ask, { value, kind: 'generated' })), value }
  }

const askOf = <Given extends SharingOptions>(ctx: Ctx, given: Given): Ask<Given> => {
  const { sender, requestId } = ctx.state
  return { given, sender, address: ctx.ip, requestId }
}

async function keep(
  { secrets, mailLimits }: Sharing,
  ask: Ask<SharingOptions>,
  what: Pick<ShareSecret, 'value' | 'kind'>,
): Promise<Attributes> {
  const { given, sender, address, requestId } = ask
  const origin = originFor(sender?.account, requestId)
  const { passphrase, ttl, recipients, notify } = optionsOf(given, sender)
  const takeBack = sender === undefined ? () => undefined : mailLimits.count(sender.account, recipients)
  const { value, kind } = what
  const wish = { value, kind, passphrase, ttl, recipients, notify, sender, address, origin }
  const { keys, secret } = await shareSecret(secrets, wish).catch((error: unknown) => {
    // Where nobody knows whether it was stored, its mails may go out.
    if (!(error instanceof OutcomeUnknown)) takeBack()
    throw error
  })
  if (secret.status === 'unknown') throw new Error('what was shared is not known')
  return attributes(secret, sender?.email ?? 'anon', keys, secrets.clock())
}

/** @throws Refusal */
function optionsOf(given: SharingOptions, sender: SecretSender | undefined) {
  const { passphrase, recipient: all, notify } = given
  if (sender === undefined && (all.length > 0 || notify)) {
    throw new Refusal('invalid', 'An account is required to send emails.')
  }
  checkPassphrase(passphrase)
  for (const recipient of all) checkRecipient(recipient)
  const ttl = ttlInForce(given.ttl)
  return { passphrase, ttl, recipients: all.slice(0, RECIPIENTS[sender?.plan ?? 'basic']), notify }
}
