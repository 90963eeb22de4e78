import { Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import { isPublicAddress } from '../../commands/webhooks/webhook-url.ts'

/** The addresses of a name, in the order in which they are to be tried. @throws the resolver's error */
export type Resolve = (name: string, signal: AbortSignal) => Promise<readonly string[]>

/** The name leads to no address that is allowed. */
class NotPublic extends Error {
  override readonly name = 'NotPublic'
}

/** Milliseconds for one question, and how often it is put: both answers, or their absence, well within a delivery. */
const QUESTION = { timeout: 3_000, tries: 2 }

/**
 * Asks the system's name servers, without its threads: those of a few names that nobody answers for would be missing to
 * all else that this process does. Names of the machine itself are loopback by definition (RFC 6761).
 */
export const resolveByDns: Resolve = async (name, signal) => {
  if (/^(?:.*\.)?localhost\.?$/i.test(name)) return ['127.0.0.1', '::1']
  const resolver = new Resolver(QUESTION)
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
export async function allowedAddresses(
  host: string,
  { resolve, isPrivateAllowed }: { readonly resolve: Resolve; readonly isPrivateAllowed: boolean },
  signal: AbortSignal,
): Promise<readonly string[]> {
  const found = isIP(host) === 0 ? await resolve(host, signal) : [host]
  const allowed = isPrivateAllowed ? found : found.filter(isPublicAddress)
  if (allowed.length > 0) return allowed
  throw new NotPublic(`${host} is ${found.join(', ') || 'nowhere'}: not an address of the public internet`)
}
