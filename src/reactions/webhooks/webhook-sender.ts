import { randomUUID } from 'node:crypto'
import type { LookupAddress } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { request as requestHttp, type IncomingMessage } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { faultOfUrl, hostOf, isPublicAddress, portOf, type WebhookRules } from '../../commands/webhooks/webhook-url.ts'
import { signatureHeaderOf, type WebhookSecrets } from '../../credentials/webhook-secrets.ts'
import { RequestError } from '../../domain/request-error.ts'
import { signingSecrets, type Webhook } from '../../domain/webhook/webhook.ts'
import type { FeedChange } from '../../projections/diamonds/change-feed.ts'
import { neverAborted } from '../../projections/engine/loop.ts'
import { VERSION } from '../../runtime/version.ts'

/** The addresses of a host name, in the order to try them. It rejects as soon as `signal` is aborted. @throws the resolver's error */
type AddressResolver = (name: string, signal: AbortSignal) => Promise<readonly string[]>

/**
 * The name has no permitted address. The message is the same for a name that does not resolve: otherwise a webhook's
 * owner could find out which names the internal network has, and their addresses.
 */
class NonPublicAddress extends Error {
  override readonly name = 'NonPublicAddress'

  constructor(host: string) {
    super(`${host} does not resolve to an address of the public internet`)
  }
}

/** Milliseconds per DNS query, and number of tries: IPv4 and IPv6 queries end well within a delivery's timeout. */
const DNS_QUERY_OPTIONS = { timeout: 3_000, tries: 2 }

/**
 * Queries the system's name servers directly. getaddrinfo would occupy threads of libuv's pool, and a few unresponsive
 * names would block everything else that needs them. Names under localhost are loopback by definition (RFC 6761).
 */
export const resolveByDns: AddressResolver = async (name, signal) => {
  if (/^(?:.*\.)?localhost\.?$/i.test(name)) return ['127.0.0.1', '::1']
  signal.throwIfAborted()
  const resolver = new Resolver(DNS_QUERY_OPTIONS)
  const cancel = () => resolver.cancel()
  signal.addEventListener('abort', cancel, { once: true })
  try {
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    if (addresses.length > 0) return addresses
    throw answers.map((answer) => (answer.status === 'rejected' ? (answer.reason as unknown) : undefined)).find(Boolean)
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}

/**
 * The addresses that a host may be reached at, resolved once per connection, which uses only these (no DNS rebinding).
 * @param host a name, or an address without brackets
 * @throws NonPublicAddress; the resolver's error if private addresses are permitted
 */
async function allowedAddresses(
  host: string,
  { resolve, isPrivateAllowed }: { readonly resolve: AddressResolver; readonly isPrivateAllowed: boolean },
  signal: AbortSignal,
): Promise<readonly string[]> {
  const lookup = isIP(host) === 0 ? resolve(host, signal) : Promise.resolve([host])
  if (isPrivateAllowed) return lookup
  // A name that cannot be resolved gets the same error as one with an internal address.
  const allowed = (await lookup.catch(() => [])).filter(isPublicAddress)
  if (allowed.length > 0) return allowed
  throw new NonPublicAddress(host)
}

/** @property id the same for every attempt of a message */
type WebhookMessage = { readonly id: string; readonly body: string }

/** The message for a change: its entry in the feed. @param now milliseconds since 1970 */
export function toWebhookMessage(
  { id }: Pick<Webhook, 'id'>,
  { cursor, what, text }: FeedChange,
  now: number,
): WebhookMessage {
  const type = what.includes('deleted') ? 'deleted' : what.includes('created') ? 'created' : 'changed'
  const head = `{"type":"diamond.${type}","timestamp":"${new Date(now).toISOString()}"`
  return { id: `msg_${id}_${cursor}`, body: `${head},"data":${text}}` }
}

/** @param uniqueId unique part of the message's id */
function testMessage({ id }: Pick<Webhook, 'id'>, uniqueId: string, now: number): WebhookMessage {
  const body = { type: 'webhook.test', timestamp: new Date(now).toISOString(), data: { webhook: id } }
  return { id: `msg_${id}_test_${uniqueId}`, body: JSON.stringify(body) }
}

/**
 * Signs a message for sending now, with each active secret.
 * @param trace its `traceparent`
 * @throws SealedByAnotherKey
 */
export function signMessage(
  webhook: Webhook,
  { id, body }: WebhookMessage,
  secrets: Pick<WebhookSecrets, 'open'>,
  now: number,
  trace?: string,
): Parameters<SendMessage>[1] {
  const timestamp = Math.floor(now / 1000)
  const plainSecrets = signingSecrets(webhook, now).map((sealed) => secrets.open(sealed, webhook.id))
  const headers = {
    'Content-Type': 'application/json',
    'User-Agent': `Adamant/${VERSION}`,
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatureHeaderOf(plainSecrets, { id, timestamp, body }),
    ...(trace !== undefined && { traceparent: trace }),
  }
  return { headers, body }
}

/** The outcome of an attempt. @property status null without a response @property error null on success */
export type DeliveryOutcome = { readonly status: number | null; readonly ms: number; readonly error: string | null }

/** Sends one message. @throws the signal's reason if aborted */
export type SendMessage = (
  url: string,
  message: { readonly headers: Readonly<Record<string, string>>; readonly body: string },
  signal: AbortSignal,
) => Promise<DeliveryOutcome>

export type WebhookSenderOptions = {
  readonly rules: WebhookRules
  readonly resolve: AddressResolver
  /** Milliseconds for DNS lookup, connection and the response's status together. */
  readonly timeoutMs?: number
  /** Milliseconds of a clock that never goes back. */
  readonly monotonic?: () => number
}

const DEFAULT_TIMEOUT_MS = 15_000

/** Bytes read of a response body, to quote its beginning in the error. */
const MAX_RESPONSE_BYTES = 1_024
/** Characters of a response body quoted in an error. */
const MAX_SHOWN_CHARACTERS = 200

/**
 * Opens a connection for each message, to addresses just resolved and permitted. Follows no redirect, and reads at most
 * 1 KiB of the response.
 */
export function createWebhookSender({
  rules,
  resolve,
  timeoutMs = DEFAULT_TIMEOUT_MS,
  monotonic = () => performance.now(),
}: WebhookSenderOptions): SendMessage {
  return async (urlText, message, signal) => {
    const startedAt = monotonic()
    const timeoutSignal = AbortSignal.timeout(timeoutMs)
    const combinedSignal = AbortSignal.any([signal, timeoutSignal])
    const outcome = (status: number | null, error: string | null): DeliveryOutcome => ({
      status,
      ms: Math.round(monotonic() - startedAt),
      error,
    })
    try {
      const fault = faultOfUrl(urlText, rules)
      if (fault !== undefined) return outcome(null, fault)
      const url = new URL(urlText)
      const access = { resolve, isPrivateAllowed: rules.private }
      const addresses = await allowedAddresses(hostOf(url), access, combinedSignal)
      const { status, error } = await exchange(url, addresses, message, combinedSignal)
      return outcome(status, error)
    } catch (error) {
      if (signal.aborted) throw signal.reason
      return outcome(null, timeoutSignal.aborted ? `No response within ${timeoutMs / 1000} s` : describeError(error))
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
    // On success the body is not read.
    if (status >= 200 && status < 300) return { status, error: null }
    return { status, error: describeRefusal(status, await readBeginning(response)) }
  } finally {
    // Errors of the rest of the response do not matter; without a listener they would end the process.
    response.on('error', () => undefined)
    response.destroy()
  }
}

/** Resolves with the response's head. */
function sendRequest(
  url: URL,
  addresses: readonly string[],
  { headers, body }: Parameters<SendMessage>[1],
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((done, fail) => {
    const openRequest = url.protocol === 'https:' ? requestHttps : requestHttp
    const request = openRequest({
      method: 'POST',
      protocol: url.protocol,
      // For a name, `lookup` is called and TLS verifies the name; an address is used as it is.
      hostname: hostOf(url),
      port: portOf(url),
      path: url.pathname + url.search,
      headers: { ...headers, 'Content-Length': String(Buffer.byteLength(body)) },
      agent: false,
      lookup: lookupOf(addresses),
      signal,
    })
    request.on('error', fail)
    request.on('response', done)
    // No effect after a response.
    request.on('close', () => fail(new Error('the connection was closed without a response')))
    request.end(body)
  })
}

/** Returns the addresses already checked: there is no second resolution between check and connection. */
const lookupOf =
  (addresses: readonly string[]): LookupFunction =>
  (_name, options, callback) => {
    const all: LookupAddress[] = addresses.map((address) => ({ address, family: isIP(address) }))
    const [first] = all
    if (options.all === true) callback(null, all)
    else callback(null, first?.address ?? '', first?.family ?? 4)
  }

/** The first bytes of a response body, up to its end, the limit or a failure. */
function readBeginning(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytesRead = 0
  return new Promise((done) => {
    const end = () => done(Buffer.concat(chunks).subarray(0, MAX_RESPONSE_BYTES).toString())
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk.subarray(0, MAX_RESPONSE_BYTES - bytesRead))
      bytesRead += chunk.length
      if (bytesRead >= MAX_RESPONSE_BYTES) end()
    })
    response.on('end', end)
    response.on('error', end)
    response.on('close', end)
  })
}

function describeRefusal(status: number, body: string): string {
  const plain = body.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim()
  const excerpt = plain === '' ? '' : `: ${plain.slice(0, MAX_SHOWN_CHARACTERS)}`
  return `Responded with ${status}${status >= 300 && status < 400 ? '; redirects are not followed' : excerpt}`
}

/** Describes a connection error for the webhook's owner. Only permitted addresses are connected to. */
function describeError(error: unknown): string {
  if (!(error instanceof Error)) return 'The request could not be sent'
  const code = 'code' in error && typeof error.code === 'string' ? ` (${error.code})` : ''
  const inner = error instanceof AggregateError ? error.errors.map(String).join('; ') : error.message
  return `${inner}${code}`.slice(0, 300)
}

/** Concurrent tests of one account in a process, and seconds after which a retry makes sense. */
const MAX_CONCURRENT_TESTS = 2
const RETRY_AFTER_SECONDS = 15

/** @param trace the request's `traceparent` */
type SendTestMessage = (webhook: Webhook, account: number, trace?: string) => Promise<DeliveryOutcome>

export function createTestSender(
  send: SendMessage,
  secrets: Pick<WebhookSecrets, 'open'>,
  clock: () => number,
): SendTestMessage {
  const testsByAccount = new Map<number, number>()
  return async (webhook, account, trace) => {
    const running = testsByAccount.get(account) ?? 0
    if (running >= MAX_CONCURRENT_TESTS)
      throw new RequestError(
        'too-many',
        'Too many concurrent tests: wait until the others have ended',
        RETRY_AFTER_SECONDS,
      )
    testsByAccount.set(account, running + 1)
    try {
      const now = clock()
      const message = testMessage(webhook, randomUUID(), now)
      return await send(webhook.url, signMessage(webhook, message, secrets, now, trace), neverAborted())
    } finally {
      const remaining = (testsByAccount.get(account) ?? 1) - 1
      if (remaining === 0) testsByAccount.delete(account)
      else testsByAccount.set(account, remaining)
    }
  }
}
