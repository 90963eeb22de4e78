import { request as requestHttp, type IncomingMessage } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { LookupAddress } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { faultOfUrl, hostOf, portOf, type WebhookRules } from '../../commands/webhooks/webhook-url.ts'
import { allowedAddresses, type Resolve } from './resolve.ts'

/** What came of one try. @property status null where nothing was answered @property error null where it was taken */
export type Outcome = { readonly status: number | null; readonly ms: number; readonly error: string | null }

/** Sends one message to an address. @throws the signal's reason, where it is stopped from outside */
export type Send = (
  url: string,
  message: { readonly headers: Readonly<Record<string, string>>; readonly body: string },
  signal: AbortSignal,
) => Promise<Outcome>

export type Sending = {
  readonly rules: WebhookRules
  readonly resolve: Resolve
  /** Milliseconds for all of it: look-up, connection, and the answer's status. */
  readonly patience?: number
  /** Milliseconds that only grow. */
  readonly monotonic?: () => number
}

const PATIENCE = 15_000

/** Bytes that are read of a receiver's answer, of which an error shows the beginning. */
const READ = 1_024
/** Characters of an answer that stand in an error. */
const SHOWN = 200

/**
 * Sends with a connection for each message, by addresses that were just looked up and found allowed. It follows no
 * redirect, and reads no more than 1 KiB of what is answered.
 */
export function sender({ rules, resolve, patience = PATIENCE, monotonic = () => performance.now() }: Sending): Send {
  return async (text, message, signal) => {
    const began = monotonic()
    const late = AbortSignal.timeout(patience)
    const either = AbortSignal.any([signal, late])
    const outcome = (status: number | null, error: string | null): Outcome => ({
      status,
      ms: Math.round(monotonic() - began),
      error,
    })
    try {
      const fault = faultOfUrl(text, rules)
      if (fault !== undefined) return outcome(null, fault)
      const url = new URL(text)
      const looked = allowedAddresses(hostOf(url), { resolve, isPrivateAllowed: rules.private }, either)
      const addresses = await unlessAborted(looked, either)
      const { status, error } = await exchange(url, addresses, message, either)
      return outcome(status, error)
    } catch (error) {
      if (signal.aborted) throw signal.reason
      return outcome(null, late.aborted ? `No answer within ${patience / 1000} s` : sentenceOf(error))
    }
  }
}

async function exchange(
  url: URL,
  addresses: readonly string[],
  message: Parameters<Send>[1],
  signal: AbortSignal,
): Promise<Pick<Outcome, 'status' | 'error'>> {
  const response = await answered(url, addresses, message, signal)
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
function answered(
  url: URL,
  addresses: readonly string[],
  { headers, body }: Parameters<Send>[1],
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
    const end = () => done(Buffer.concat(chunks).subarray(0, READ).toString())
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk.subarray(0, READ - read))
      read += chunk.length
      if (read >= READ) end()
    })
    response.on('end', end)
    response.on('error', end)
    response.on('close', end)
  })
}

function refusalOf(status: number, said: string): string {
  const plain = said.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim()
  const words = plain === '' ? '' : `: ${plain.slice(0, SHOWN)}`
  return `Answered ${status}${status >= 300 && status < 400 ? '; redirects are not followed' : words}`
}

/** What went wrong with a connection, without more of the inner network than its name: that is for its owner to read. */
function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return 'It could not be sent'
  const code = 'code' in error && typeof error.code === 'string' ? ` (${error.code})` : ''
  const inner = error instanceof AggregateError ? error.errors.map(String).join('; ') : error.message
  return `${inner}${code}`.slice(0, 300)
}

/** Rejects as soon as it is aborted: a look-up may go on for a while. */
const unlessAborted = <Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> =>
  Promise.race([work, abortion(signal)])

const abortion = (signal: AbortSignal): Promise<never> =>
  new Promise((_done, fail) => {
    const stop = () => fail(signal.reason as Error)
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
