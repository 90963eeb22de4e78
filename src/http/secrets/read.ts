import { burnSecret } from '../../commands/secrets/burn-secret.ts'
import type { Origin } from '../../events/origin.ts'
import { custidOf, readReceipt } from '../../commands/secrets/read-receipt.ts'
import { revealSecret } from '../../commands/secrets/reveal-secret.ts'
import type { Secrets } from '../../commands/secrets/secrets.ts'
import { attributes } from '../../domain/secret/render.ts'
import type { RecentSecrets } from '../../projections/secrets/recent-secrets.ts'
import { patienceOf, type Ctx, type Step } from '../kit/request.ts'
import { PassphraseParameters } from './parameters.ts'
import { askerOf, secretOriginOf } from './sender.ts'

/** The first characters of the secret key: enough for a person to tell secrets apart, as the original shows them. */
const SHORT_KEY = 6

export const keyOf = (ctx: Ctx): string => String(ctx.params['key'])

/** `secret/{key}`: the value, once. */
export const reveal =
  (secrets: Secrets): Step =>
  async (ctx) => {
    ctx.body = await revealed(secrets, {
      secretKey: keyOf(ctx),
      ...(await PassphraseParameters.read(ctx.req, ctx.querystring)),
      ...askerOf(ctx),
      origin: secretOriginOf(ctx),
    })
  }

type Reveal = {
  readonly secretKey: string
  readonly passphrase: string
  readonly account: number | undefined
  readonly address: string
  readonly origin: Origin
}

/**
 * Reads a secret, the one time.
 * @returns the answer's body
 * @throws Refusal, StoreUnavailable, OutcomeUnknown
 */
export async function revealed(secrets: Secrets, asked: Reveal): Promise<object> {
  const value = await revealSecret(secrets, asked)
  return { value, secret_key: asked.secretKey, share_domain: '' }
}

/** `private/{key}`: what the sender may know; changes nothing. */
export const metadata =
  (secrets: Secrets): Step =>
  async (ctx) => {
    const { keys, secret } = await readReceipt(secrets, keyOf(ctx))
    ctx.body = attributes(secret, await custidOf(secrets, secret.owner), keys, secrets.clock())
  }

/** `private/{key}/burn`: both shapes that clients read. */
export const burn =
  (secrets: Secrets): Step =>
  async (ctx) => {
    const { keys, secret } = await burnSecret(secrets, {
      metadataKey: keyOf(ctx),
      ...(await PassphraseParameters.read(ctx.req, ctx.querystring)),
      ...askerOf(ctx),
      origin: secretOriginOf(ctx),
    })
    const shown = attributes(secret, await custidOf(secrets, secret.owner), keys, secrets.clock())
    ctx.body = { ...shown, status: 'burned', state: shown, secret_shortkey: keys.secretKey.slice(0, SHORT_KEY) }
  }

/** `private/recent`: what the account has shared in 30 days. */
export const recent =
  (recentSecrets: RecentSecrets): Step =>
  async (ctx) => {
    const { sender } = ctx.state
    if (sender === undefined) throw new Error('recent is not behind requireSender')
    const { secrets, current } = await recentSecrets.of(sender, patienceOf(ctx))
    if (!current) ctx.set('X-Consistency', 'pending')
    ctx.body = secrets
  }
