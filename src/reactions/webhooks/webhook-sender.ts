import { randomUUID } from 'node:crypto'
import type { LookupAddress } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { request as requestHttp, type IncomingMessage } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { faultOfUrl, hostOf, isPublicAddress, portOf, type WebhookRules } from '../../commands/webhooks/webhook-url.ts'
import { signatureHeaderOf, type WebhookSecrets } from '../../credentials/webhook-secrets.ts'
import { RequestError } from '../../domain/decider.ts'
import { signingSecrets, type Webhook } from '../../domain/webhook/webhook.ts'
import type { FeedChange } from '../../projections/diamonds/change-feed.ts'
import { neverAborted } from '../../projections/engine/loop.ts'
import { VERSION } from '../../runtime/version.ts'

/** The addresses of a name, in the order in which they are to be tried. @throws the resolver's error */
export type AddressResolver = (name: string, signal: AbortSignal) => Promise<readonly string[]>

/** The name leads to no address that is allowed. */
class NonPublicAddress extends Error {
  override readonly name = 'NotPublic'
}

/** Milliseconds for one question, and how often it is put: both answers, or their absence, well within a delivery. */
const DNS_QUERY_OPTIONS = { timeout: 3_000, tries: 2 }

/**
 * Asks the system's name servers, without its threads: those of a few names that nobody answers for would be missing to
 * all else that this process does. Names of the machine itself are loopback by definition (RFC 6761).
 */
export const resolveByDns: AddressResolver = async (name, signal) => {
  if (/^(?:.*\.)?localhost\.?$/i.test(name)) return ['127.0.0.1', '::1']
  const resolver = new Resolver(DNS_QUERY_OPTIONS)
  const cancel = () => resolver.cancel()
  signal.addEventListener('abort', cancel, { once: true })
  try {
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
    const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    if (found.length > 0) return found
    throw answers.map((answer) => (answer.status === 'rejected' ? (answer.reason as unknown) : undefined)).find(Boolean)
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}

/**
 * The addresses that a host may be connected to: looked up once for a connection, which goes to no other.
 * @param host a name, or an address without brackets
 * @throws NotPublic where there is none that is allowed; the resolver's error
 */
async function allowedAddresses(
  host: string,
  { resolve, isPrivateAllowed }: { readonly resolve: AddressResolver; readonly isPrivateAllowed: boolean },
  signal: AbortSignal,
): Promise<readonly string[]> {
  const found = isIP(host) === 0 ? await resolve(host, signal) : [host]
  const allowed = isPrivateAllowed ? found : found.filter(isPublicAddress)
  if (allowed.length > 0) return allowed
  throw new NonPublicAddress(`${host} is ${found.join(', ') || 'nowhere'}: not an address of the public internet`)
}

/** @property id the same for every try of a message */
export type WebhookMessage = { readonly id: string; readonly body: string }

/** What is told of a stone: the element of the feed as it is. @param now milliseconds since 1970 */
export function toWebhookMessage(
  { id }: Pick<Webhook, 'id'>,
  { cursor, what, text }: FeedChange,
  now: number,
): WebhookMessage {
  const type = what.includes('deleted') ? 'deleted' : what.includes('created') ? 'created' : 'changed'
  const head = `{"type":"diamond.${type}","timestamp":"${new Date(now).toISOString()}"`
  return { id: `msg_${id}_${cursor}`, body: `${head},"data":${text}}` }
}

/** What a receiver is tried out with. @param one tells it from every other */
function testMessage({ id }: Pick<Webhook, 'id'>, one: string, now: number): WebhookMessage {
  const body = { type: 'webhook.test', timestamp: new Date(now).toISOString(), data: { webhook: id } }
  return { id: `msg_${id}_test_${one}`, body: JSON.stringify(body) }
}

/** A message as it goes out now, signed with each secret that signs now.
 * @param trace that it is a part of, as `traceparent` has it
 * @throws SealedByAnotherKey */
export function signMessage(
  webhook: Webhook,
  { id, body }: WebhookMessage,
  secrets: Pick<WebhookSecrets, 'open'>,
  now: number,
  trace?: string,
): Parameters<SendMessage>[1] {
  const timestamp = Math.floor(now / 1000)
  const open = signingSecrets(webhook, now).map((sealed) => secrets.open(sealed, webhook.id))
  const headers = {
    'Content-Type': 'application/json',
    'User-Agent': `Adamant/${VERSION}`,
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatureHeaderOf(open, { id, timestamp, body }),
    ...(trace !== undefined && { traceparent: trace }),
  }
  return { headers, body }
}

/** What came of one try. @property status null where nothing was answered @property error null where it was taken */
export type DeliveryOutcome = { readonly status: number | null; readonly ms: number; readonly error: string | null }

/** Sends one message to an address. @throws the signal's reason, where it is stopped from outside */
export type SendMessage = (
  url: string,
  message: { readonly headers: Readonly<Record<string, string>>; readonly body: string },
  signal: AbortSignal,
) => Promise<DeliveryOutcome>

export type WebhookSenderOptions = {
  readonly rules: WebhookRules
  readonly resolve: AddressResolver
  /** Milliseconds for all of it: look-up, connection, and the answer's status. */
  readonly timeoutMs?: number
  /** Milliseconds that only grow. */
  readonly monotonic?: () => number
}

const DEFAULT_TIMEOUT_MS = 15_000

/** Bytes that are read of a receiver's answer, of which an error shows the beginning. */
const MAX_RESPONSE_BYTES = 1_024
/** Characters of an answer that stand in an error. */
const MAX_SHOWN_CHARACTERS = 200

/**
 * Sends with a connection for each message, by addresses that were just looked up and found allowed. It follows no
 * redirect, and reads no more than 1 KiB of what is answered.
 */
export function createWebhookSender({
  rules,
  resolve,
  timeoutMs = DEFAULT_TIMEOUT_MS,
  monotonic = () => performance.now(),
}: WebhookSenderOptions): SendMessage {
  return async (text, message, signal) => {
    const began = monotonic()
    const timeoutSignal = AbortSignal.timeout(timeoutMs)
    const combinedSignal = AbortSignal.any([signal, timeoutSignal])
    const outcome = (status: number | null, error: string | null): DeliveryOutcome => ({
      status,
      ms: Math.round(monotonic() - began),
      error,
    })
    try {
      const fault = faultOfUrl(text, rules)
      if (fault !== undefined) return outcome(null, fault)
      const url = new URL(text)
      const lookup = allowedAddresses(hostOf(url), { resolve, isPrivateAllowed: rules.private }, combinedSignal)
      const addresses = await unlessAborted(lookup, combinedSignal)
      const { status, error } = await exchange(url, addresses, message, combinedSignal)
      return outcome(status, error)
    } catch (error) {
      if (signal.aborted) throw signal.reason
      return outcome(null, timeoutSignal.aborted ? `No answer within ${timeoutMs / 1000} s` : describeError(error))
    }
  }
}

async function exchange(
  url: URL,
  addresses: readonly string[],
  message: Parameters<SendMessage>[1],
  signal: AbortSignal,
): Promise<Pick<DeliveryOutcome, 'status' | 'error'>> {
  const response = await sendRequest(url, addresses, message, signal)
  try {
    const status = response.statusCode ?? 0
    // What was taken is taken: nobody waits for the end of what is said about it.
    if (status >= 200 && status < 300) return { status, error: null }
    return { status, error: refusalOf(status, await beginningOf(response)) }
  } finally {
    // However the rest of the answer breaks off, it matters no more; an error nobody listens to would end the process.
    response.on('error', () => undefined)
    response.destroy()
  }
}

/** Sends, and resolves with the head of the answer. */
function sendRequest(
  url: URL,
  addresses: readonly string[],
  { headers, body }: Parameters<SendMessage>[1],
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((done, fail) => {
    const send = url.protocol === 'https:' ? requestHttps : requestHttp
    const sending = send({
      method: 'POST',
      protocol: url.protocol,
      // A name, so that `lookup` is asked and TLS checks it; an address is connected to as it is.
      hostname: hostOf(url),
      port: portOf(url),
      path: url.pathname + url.search,
      headers: { ...headers, 'Content-Length': String(Buffer.byteLength(body)) },
      agent: false,
      lookup: lookupOf(addresses),
      signal,
    })
    sending.on('error', fail)
    sending.on('response', done)
    // Behind an answer this changes nothing.
    sending.on('close', () => fail(new Error('the connection was closed without an answer')))
    sending.end(body)
  })
}

/** Gives the addresses that were found allowed: between the check and the connection nobody asks again. */
const lookupOf =
  (addresses: readonly string[]): LookupFunction =>
  (_name, options, callback) => {
    const all: LookupAddress[] = addresses.map((address) => ({ address, family: isIP(address) }))
    const [first] = all
    if (options.all === true) callback(null, all)
    else callback(null, first?.address ?? '', first?.family ?? 4)
  }

/** The first bytes of an answer, whenever it ends or is long enough; whatever arrived until it broke off. */
function beginningOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let read = 0
  return new Promise((done) => {
    const end = () => done(Buffer.concat(chunks).subarray(0, MAX_RESPONSE_BYTES).toString())
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk.subarray(0, MAX_RESPONSE_BYTES - read))
      read += chunk.length
      if (read >= MAX_RESPONSE_BYTES) end()
    })
    response.on('end', end)
    response.on('error', end)
    response.on('close', end)
  })
}

function refusalOf(status: number, said: string): string {
  const plain = said.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim()
  const words = plain === '' ? '' : `: ${plain.slice(0, MAX_SHOWN_CHARACTERS)}`
  return `Answered ${status}${status >= 300 && status < 400 ? '; redirects are not followed' : words}`
}

/** What went wrong with a connection, without more of the inner network than its name: that is for its owner to read. */
function describeError(error: unknown): string {
  if (!(error instanceof Error)) return 'It could not be sent'
  const code = 'code' in error && typeof error.code === 'string' ? ` (${error.code})` : ''
  const inner = error instanceof AggregateError ? error.errors.map(String).join('; ') : error.message
  return `${inner}${code}`.slice(0, 300)
}

/** Rejects as soon as it is aborted: a look-up may go on for a while. */
const unlessAborted = <Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> =>
  Promise.race([work, rejectionOnAbort(signal)])

const rejectionOnAbort = (signal: AbortSignal): Promise<never> =>
  new Promise((_done, fail) => {
    const stop = () => fail(signal.reason as Error)
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })

/** Tests of one account that may be under way in a process, and seconds after which another is worth a try. */
const MAX_CONCURRENT_TESTS = 2
const RETRY_AFTER_SECONDS = 15

/** @param trace that the wish is a part of, as `traceparent` has it */
export type SendTestMessage = (webhook: Webhook, account: number, trace?: string) => Promise<DeliveryOutcome>

/** Sends test messages, for their owners and operators. */
export function createTestSender(
  send: SendMessage,
  secrets: Pick<WebhookSecrets, 'open'>,
  clock: () => number,
): SendTestMessage {
  const testsByAccount = new Map<number, number>()
  return async (webhook, account, trace) => {
    const others = testsByAccount.get(account) ?? 0
    if (others >= MAX_CONCURRENT_TESTS)
      throw new RequestError('too-many', 'Other tests are under way; wait for them', RETRY_AFTER_SECONDS)
    testsByAccount.set(account, others + 1)
    try {
      const now = clock()
      const message = testMessage(webhook, randomUUID(), now)
      return await send(webhook.url, signMessage(webhook, message, secrets, now, trace), neverAborted())
    } finally {
      const left = (testsByAccount.get(account) ?? 1) - 1
      if (left === 0) testsByAccount.delete(account)
      else testsByAccount.set(account, left)
    }
  }
}
