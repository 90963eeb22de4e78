import {
  endGuessed,
  refuseLocked,
  reveal,
  secretDecider,
  TRIES_IN_LIFE,
  tryPassphrase,
  unknownSecretRefusal,
  waiting,
} from '../../domain/secret/secret.ts'
import { digestOfSecretKey, secretStream } from '../../credentials/secret-keys.ts'
import type { Inner } from '../../credentials/secret-box.ts'
import { mayBePassphrase } from '../../domain/secret/limits.ts'
import { handle } from '../core/handle.ts'
import type { Origin } from '../../events/origin.ts'
import { loadSecret, sealedOf, type Secrets } from './secrets.ts'

export type RevealSecret = {
  readonly secretKey: string
  /** Empty for none. */
  readonly passphrase: string
  /** Whose credentials came with the request, and where it comes from. */
  readonly account?: number | undefined
  readonly address?: string
  readonly origin: Origin
}

type Named = { readonly secretKey: string; readonly digest: string }

/**
 * Gives the value to one reader only: it is decrypted first, and told when this call's SecretRevealed is the one that
 * is stored. No wish has a name, which two callers might share.
 * @throws Refusal missing for everything that can't be read, too-many; OutcomeUnknown, StoreUnavailable: not told then
 */
export async function revealSecret(secrets: Secrets, wish: RevealSecret): Promise<string> {
  const digest = digestOfSecretKey(wish.secretKey)
  if (digest === undefined) throw unknownSecretRefusal()
  const sealed = await sealedOf(secrets, digest)
  const keys = { secretKey: wish.secretKey, digest }
  const inner = secrets.box.outerOpened(sealed, digest)
  const value =
    inner.passphrase === undefined
      ? secrets.box.open(inner, keys)
      : await openWithPassphrase(secrets, keys, inner, { ...wish, purpose: 'reveal' })
  if (value === undefined) throw unknownSecretRefusal()
  const stream = secretStream(digest)
  await handle(secrets, { stream, origin: wish.origin }, secretDecider, reveal)
  return value
}

export type PassphraseTry = {
  readonly passphrase: string
  readonly account?: number | undefined
  readonly address?: string
  readonly purpose: 'reveal' | 'burn'
  readonly origin: Origin
}

/**
 * The value, or undefined where the passphrase is wrong or missing. The try is on record before it is made; a missing
 * passphrase is no try. The last wrong one of a secret's life ends it.
 * @throws Refusal missing, too-many
 */
export async function openWithPassphrase(
  secrets: Secrets,
  keys: Named,
  inner: Inner,
  { passphrase, purpose, origin, account, address }: PassphraseTry,
): Promise<string | undefined> {
  if (passphrase === '') {
    const now = secrets.clock()
    refuseLocked(waiting(await loadSecret(secrets.store, keys.digest), now), now)
    return undefined
  }
  const place = secrets.box.enter({ purpose: 'read', account, address })
  try {
    const wish = { stream: secretStream(keys.digest), origin }
    const { state } = await handle(secrets, wish, secretDecider, (secret, now) => tryPassphrase(secret, now, purpose))
    if (state.status !== 'new') throw unknownSecretRefusal()
    const value = mayBePassphrase(passphrase) ? await secrets.box.openWith(place, passphrase, inner, keys) : undefined
    if (value === undefined && state.failedTries >= TRIES_IN_LIFE) {
      await handle(secrets, wish, secretDecider, endGuessed)
    }
    return value
  } finally {
    place.leave()
  }
}
