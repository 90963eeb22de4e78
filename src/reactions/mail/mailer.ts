import { createHash, randomUUID } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { custidOf, loadSecret, recordMail, type SecretCommandContext } from '../../commands/secrets/secrets.ts'
import type { Addressee } from '../../credentials/sealing.ts'
import {
  expiresAt,
  isMailRecorded,
  mailKindOf,
  linkName,
  MAX_RECIPIENTS,
  NOT_SENT,
  type KnownSecret,
  type Secret,
} from '../../domain/secret/secret.ts'
import { isDecodeError } from '../../events/decode.ts'
import { defineScheduledJob } from '../../projections/engine/loop.ts'
import type { AppLogger } from '../../runtime/logger.ts'
import { ServiceRefused, UndeliverableMail, type MailTransport } from '../../stores/ports/mail.ts'
import type { QueuedMail } from '../../stores/ports/vault.ts'
import { MailClaims } from './mail-claims.ts'

/**
 * The Message-ID of a mail, with angle brackets: the same for each attempt, and a hash, so that it does not reveal the
 * secret.
 * @param id `{digest}/{name}`, as in the vault
 * @param from the mail's From, whose domain is used
 */
function messageIdOf(id: string, from: string): string {
  const localPart = createHash('sha256').update(`mail/${id}`).digest('hex').slice(0, 32)
  const domain = /@([\w.-]+)>?\s*$/.exec(from)?.[1] ?? 'localhost'
  return `<${localPart}@${domain}>`
}

/** The Message-IDs of all mails that may carry a link to these secrets. */
export function* linkMessageIds(digests: Iterable<string>, from: string): Generator<string> {
  for (const digest of digests) {
    for (let number = 0; number < MAX_RECIPIENTS; number++) yield messageIdOf(`${digest}/${linkName(number)}`, from)
  }
}

type MailText = { readonly subject: string; readonly text: string; readonly html: string }

/**
 * The mail with the link for a recipient. It explains what to expect, and never contains the secret.
 * @param sender e-mail address of the account that shared it
 * @param baseUrl base of links, such as https://secrets.example.com
 */
function linkMail(secret: KnownSecret, { secretKey }: Addressee, sender: string, baseUrl: string): MailText {
  const link = `${baseUrl}/secret/${secretKey ?? ''}`
  const until = utc(expiresAt(secret))
  const passphrase = secret.passphrase
    ? 'You need the passphrase that the sender has agreed on with you. It is not in this mail.'
    : ''
  return mailOf(`${sender} sent you a secret`, [
    `${sender} sent you a secret. It can be read once, by the first person to open it, until ${until}:`,
    { link },
    'The page asks you to confirm before it shows the secret: following the link alone does not reveal it.',
    passphrase,
    'If the secret is no longer there, tell the sender: somebody else may have read it.',
  ])
}

/** The notice to the owner that a secret was read. */
function noticeMail(secret: KnownSecret): MailText {
  const [recipient] = secret.recipient
  const description =
    recipient === undefined ? 'A secret that you shared' : `The secret that you shared with ${recipient}`
  return mailOf('A secret that you shared was read', [
    `${description} on ${utc(secret.at)} was read on ${utc(secret.changedAt)}. It can't be read again.`,
    'If the intended recipient did not read it, somebody else has: treat the secret as compromised.',
  ])
}

type Paragraph = string | { readonly link: string }

function mailOf(subject: string, paragraphs: readonly Paragraph[]): MailText {
  const nonEmpty = paragraphs.filter((paragraph) => paragraph !== '')
  return {
    subject,
    text: `${nonEmpty.map((paragraph) => (typeof paragraph === 'string' ? paragraph : paragraph.link)).join('\n\n')}\n`,
    html:
      '<!doctype html><html lang="en"><body style="font:16px/1.5 sans-serif;color:#1c2430;max-width:36em">' +
      `${nonEmpty.map((paragraph) => `<p>${htmlOf(paragraph)}</p>`).join('')}</body></html>`,
  }
}

function htmlOf(paragraph: Paragraph): string {
  if (typeof paragraph === 'string') return escapeHtml(paragraph)
  return `<a href="${escapeHtml(paragraph.link)}">${escapeHtml(paragraph.link)}</a>`
}

const escapeHtml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

const utc = (ms: number) => `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`

type MailerOptions = {
  readonly secrets: SecretCommandContext
  /** Whether the clock may be relied on for what cannot be undone (steady-clock.ts). */
  readonly isClockSettled: () => boolean
  readonly mail: MailTransport
  /** The From of mails. */
  readonly from: string
  /** The base of links, such as https://secrets.example.com. */
  readonly baseUrl: string
  readonly log: AppLogger
  /** Milliseconds without a renewal after which a claim expires: after a crash, mails wait that long. */
  readonly claimTimeoutMs?: number
  /** Milliseconds of back-off, by number of attempts. */
  readonly backoffMs?: (attempts: number) => number
  /** Called after each attempt to send a mail. */
  readonly onAttempt?: (outcome: MailOutcome) => void
}

/** `refused`: permanently; `failed` and `misconfigured` (`ServiceRefused`): it is tried again. */
export const MAIL_OUTCOMES = ['sent', 'refused', 'misconfigured', 'failed'] as const

type MailOutcome = (typeof MAIL_OUTCOMES)[number]

/** Mails sent concurrently. */
const CONCURRENCY = 4
/** Milliseconds between two polls of the queue, which other processes fill too. */
const POLL_INTERVAL_MS = 500
/** Milliseconds that a stop waits for mails under way. */
const STOP_TIMEOUT_MS = 4_000
const INITIAL_BACKOFF_MS = 2_000
/** With jitter still shorter than DUE_AHEAD. */
const MAX_BACKOFF_MS = 10 * 60_000

const backOff = (attempts: number) =>
  Math.min(MAX_BACKOFF_MS, INITIAL_BACKOFF_MS * 2 ** (attempts - 1)) * (0.75 + Math.random() / 2)

/**
 * Sends the mails queued in the vault. One process claims a mail, sends it, records the outcome in the secret's stream,
 * and only then removes it from the queue. So a mail is sent once, or again if the process crashed between the mail
 * server's acceptance and the record, with the same Message-ID.
 */
export class Mailer {
  readonly #options: MailerOptions
  readonly #claimant = randomUUID()
  readonly #claims: MailClaims
  /** The query for the next due mail, shared by concurrent rounds. */
  #nextDueQuery: Promise<number | undefined> | undefined

  constructor(options: MailerOptions) {
    this.#options = options
    const { secrets, claimTimeoutMs, log } = options
    const onRenewalError = (error: unknown, mail: string) =>
      log.warn({ err: error, mail }, 'the claim of a mail could not be renewed; trying again')
    this.#claims = new MailClaims(secrets.vault, this.#claimant, {
      onRenewalError,
      ...(claimTimeoutMs !== undefined && { claimTimeoutMs }),
    })
  }

  /**
   * Sends due mails sequentially; concurrent calls send concurrently. @param signal aborted on shutdown; other
   * processes send the rest
   */
  async sendDue(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const mail = await this.#claimNext()
      if (mail === undefined) return
      await this.#handle(mail, signal)
    }
  }

  /** Other processes take over mails still under way. */
  close(): void {
    this.#claims.close()
  }

  /** Most polls find nothing, so the cheapest check comes first. */
  async #claimNext(): Promise<QueuedMail | undefined> {
    const { store, clock } = this.#options.secrets
    const due = await this.#nextDue()
    if (due === undefined || due > clock() || (await store.closedReason()) !== undefined) return undefined
    return this.#claims.take(clock())
  }

  /** Idle rounds poll at the same moment and share one query, which begins after all of them have called. */
  #nextDue(): Promise<number | undefined> {
    const { vault, clock } = this.#options.secrets
    this.#nextDueQuery ??= nextTurn().then(() => {
      this.#nextDueQuery = undefined
      return vault.nextMail(clock())
    })
    return this.#nextDueQuery
  }

  /** Holds the claim until the mail has left the queue or was postponed, also while its outcome can't be recorded. */
  async #handle(mail: QueuedMail, signal: AbortSignal): Promise<void> {
    try {
      await this.#processOrPostpone(mail, signal)
      this.#claims.done(mail.id)
    } catch (error) {
      this.#claims.release(mail.id)
      throw error
    }
  }

  /** A mail whose secret has undecodable events waits for a release that can decode them; other mails continue. */
  async #processOrPostpone(mail: QueuedMail, signal: AbortSignal): Promise<void> {
    try {
      await this.#process(mail, signal)
    } catch (error) {
      if (!isDecodeError(error)) throw error
      const { log, backoffMs = backOff } = this.#options
      log.warn(
        { err: error, mail: mail.kind, secret: mail.digest },
        'a mail waits: its secret has events that this release cannot decode',
      )
      await this.#postpone(mail, backoffMs(mail.attempts))
    }
  }

  async #process(mail: QueuedMail, signal: AbortSignal): Promise<void> {
    const { secrets, isClockSettled, backoffMs = backOff } = this.#options
    // If the log was closed (moved) after the claim, the new installation sends the mail.
    if ((await secrets.store.closedReason()) !== undefined) return this.#postpone(mail, 0)
    const secret = await loadSecret(secrets.store, mail.digest)
    // The share is not recorded yet, or never will be: the sweeper then removes the mail.
    if (secret.status === 'unknown') return this.#postpone(mail, 200)
    if (!isMailRecorded(secret, this.#mailReference(mail).messageId)) {
      const isLate = isOutOfDate(mail, secret, secrets.clock())
      // The refusal would be final, but the clock may be wrong.
      if (isLate && secret.status === 'new' && !isClockSettled()) return this.#postpone(mail, backoffMs(mail.attempts))
      const outcome = isLate ? { refused: NOT_SENT } : await this.#send(mail, secret)
      if (outcome === 'later') return
      const record = { ...outcome, ...this.#mailReference(mail) }
      await this.#retryUntilDone(() => recordMail(secrets, mail.digest, record), signal)
      // The secret may have ended while the mail was sent, after secret-endings had already withdrawn its mails.
      const hasEnded = isOutOfDate(mail, await loadSecret(secrets.store, mail.digest), secrets.clock())
      if (hasEnded) await this.#options.mail.withdraw?.([this.#mailReference(mail).messageId])
    }
    await this.#retryUntilDone(() => secrets.vault.removeMail(mail.id), signal)
  }

  async #send(mail: QueuedMail, secret: KnownSecret): Promise<{ refused?: string } | 'later'> {
    const { mail: transport, log, onAttempt, backoffMs = backOff } = this.#options
    try {
      const message = await this.#compose(mail, secret)
      // After a long pause the claim may be lost.
      if (!(await this.#claims.isHeld(mail.id))) return 'later'
      await transport.send(message)
      onAttempt?.('sent')
      return {}
    } catch (error) {
      if (error instanceof UndeliverableMail) {
        onAttempt?.('refused')
        log.warn(
          { mail: mail.kind, secret: mail.digest, reason: error.message },
          'the mail server refused a mail; it is not sent again',
        )
        return { refused: error.message }
      }
      onAttempt?.(error instanceof ServiceRefused ? 'misconfigured' : 'failed')
      const delayMs = backoffMs(mail.attempts)
      const reason = error instanceof Error ? error.message : 'unknown'
      log.warn(
        { mail: mail.kind, secret: mail.digest, attempts: mail.attempts, reason },
        'a mail could not be sent; trying again later',
      )
      await this.#postpone(mail, delayMs)
      return 'later'
    }
  }

  async #compose(mail: QueuedMail, secret: KnownSecret) {
    const { secrets, from, baseUrl } = this.#options
    const addressee = secrets.mailSeal.open(mail.sealed, mail.id)
    const sender = await custidOf(secrets, secret.owner)
    const isLink = mailKindOf(mail.kind) === 'link'
    const text = isLink ? linkMail(secret, addressee, sender, baseUrl) : noticeMail(secret)
    const date = new Date(isLink ? secret.at : secret.changedAt)
    return { ...text, from, to: addressee.to, date, messageId: this.#mailReference(mail).messageId }
  }

  #mailReference({ id, kind }: QueuedMail) {
    return { mail: mailKindOf(kind), messageId: messageIdOf(id, this.#options.from) }
  }

  async #postpone({ id }: QueuedMail, delayMs: number): Promise<void> {
    const { vault, clock } = this.#options.secrets
    await vault.postponeMail(id, this.#claimant, clock() + delayMs)
  }

  /** A sent mail must be recorded: retries a store's failures for as long as the process lives. */
  async #retryUntilDone(action: () => Promise<void>, signal: AbortSignal): Promise<void> {
    while (true) {
      try {
        return await action()
      } catch (error) {
        if (signal.aborted || isDecodeError(error)) throw error
        this.#options.log.warn({ err: error }, 'the outcome of a mail could not be recorded; trying again')
        await new Promise<void>((done) => setTimeout(done, POLL_INTERVAL_MS))
      }
    }
  }
}

export const mailDelivery = defineScheduledJob<{ readonly mailer: Mailer }>({
  name: 'mails',
  intervalMs: POLL_INTERVAL_MS,
  concurrency: CONCURRENCY,
  stopTimeoutMs: STOP_TIMEOUT_MS,
  createRound:
    ({ mailer }) =>
    (signal) =>
      mailer.sendDue(signal),
  onStop: async ({ mailer }) => mailer.close(),
})

/** A link to a secret that has ended is useless, and its key must not be kept. */
function isOutOfDate({ kind }: QueuedMail, secret: Secret, now: number): boolean {
  return mailKindOf(kind) === 'link' && (secret.status !== 'new' || now >= expiresAt(secret))
}
