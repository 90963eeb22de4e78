import type { Installation } from '../../src/wiring/installation.ts'
import { StoreUnavailable, type Subscription } from '../../src/stores/ports/event-store.ts'

/** How calls fail: `unavailable` rejects them, `hangs` never responds. */
export type Outage = {
  fault: 'none' | 'unavailable' | 'hangs'
  /** Number of calls that failed so far. */
  failedCalls: number
}

/** The ports of an installation that may fail. */
export const PORTS = ['store', 'reads', 'vault', 'files', 'mail'] as const
export type PortName = (typeof PORTS)[number]

/** Methods that return a part of the port, which fails with it. */
const PARTS: ReadonlySet<string | symbol> = new Set(['model', 'live', 'begin', 'lease'])

const never = () => new Promise<never>(() => {})

/** Wraps an installation so that one port fails as `outage` says, also while the installation closes. */
export function withOutage(installation: Installation, name: PortName, outage: Outage): Installation {
  const port = failing(installation[name], outage)
  const store = name === 'store' ? failing(installation.store, outage) : installation.store
  return {
    ...installation,
    [name]: port,
    context: { ...installation.context, store },
    close: () => (outage.fault === 'hangs' ? never() : installation.close()),
  }
}

function failing<Port extends object>(port: Port, outage: Outage): Port {
  return new Proxy(port, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        const call = (): unknown => Reflect.apply(value, target, args)
        if (name === 'subscribe') return subscription(call() as Subscription, outage)
        if (outage.fault !== 'none') outage.failedCalls++
        if (outage.fault === 'hangs') return iterable(never())
        if (outage.fault === 'unavailable') return refusal()
        if (PARTS.has(name)) return parts(call() as Promise<object | undefined>, outage)
        // Stores behind a network return a promise.
        return name === 'head' ? Promise.resolve(call()) : call()
      }
    },
  })
}

/** The result of a failed call, for callers that await it and for those that iterate it. */
function refusal(): Promise<never> & AsyncIterable<never> {
  const failed = Promise.reject(new StoreUnavailable('the store was made unavailable'))
  // A caller that iterates never awaits the promise, which would be an unhandled rejection.
  failed.catch(() => undefined)
  return iterable(failed)
}

const iterable = (result: Promise<never>): Promise<never> & AsyncIterable<never> =>
  Object.assign(result, {
    async *[Symbol.asyncIterator]() {
      yield await result
    },
  })

async function parts(part: Promise<object | undefined>, outage: Outage): Promise<object | undefined> {
  const found = await part
  return found && failing(found, outage)
}

/** A subscription that hangs does not end even when it is stopped. */
function subscription(real: Subscription, outage: Outage): Subscription {
  return {
    stop: () => real.stop(),
    async *[Symbol.asyncIterator]() {
      for await (const batch of real) {
        if (outage.fault === 'hangs') await never()
        if (outage.fault === 'unavailable') throw new StoreUnavailable('the store was made unavailable')
        yield batch
      }
    },
  }
}
