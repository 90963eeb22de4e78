import type { Installation } from '../../src/wiring/installation.ts'
import { StoreUnavailable, type Subscription } from '../../src/stores/ports/event-store.ts'

/** What every call meets from now on: `away` is refused, `hangs` is never answered. */
export type Outage = {
  fault: 'none' | 'away' | 'hangs'
  /** Calls that have met the fault so far. */
  met: number
}

/** What a service works with besides itself. */
export const PORTS = ['store', 'reads', 'vault', 'files', 'mail'] as const
export type PortName = (typeof PORTS)[number]

/** What is part of the port itself, and fails with it. */
const PARTS: ReadonlySet<string | symbol> = new Set(['model', 'live', 'begin', 'lease'])

const never = () => new Promise<never>(() => {})

/** An installation of which one port fails as `outage` says, also when it is to be closed. */
export function withOutage(installation: Installation, name: PortName, outage: Outage): Installation {
  const port = failing(installation[name], outage)
  const store = name === 'store' ? failing(installation.store, outage) : installation.store
  return {
    ...installation,
    [name]: port,
    writing: { ...installation.writing, store },
    close: () => (outage.fault === 'hangs' ? never() : installation.close()),
  }
}

function failing<Port extends object>(port: Port, outage: Outage): Port {
  return new Proxy(port, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      return (...asked: unknown[]) => {
        const call = (): unknown => Reflect.apply(value, target, asked)
        if (name === 'subscribe') return subscription(call() as Subscription, outage)
        if (outage.fault !== 'none') outage.met++
        if (outage.fault === 'hangs') return iterable(never())
        if (outage.fault === 'away') return refusal()
        if (PARTS.has(name)) return parts(call() as Promise<object | undefined>, outage)
        // As a store behind a network tells it.
        return name === 'head' ? Promise.resolve(call()) : call()
      }
    },
  })
}

/** What a call fails with, whether its caller waits for it or goes through it. */
function refusal(): Promise<never> & AsyncIterable<never> {
  const failed = Promise.reject(new StoreUnavailable('it was made to be away'))
  // Whoever goes through it never looks at the promise.
  failed.catch(() => undefined)
  return iterable(failed)
}

const iterable = (answer: Promise<never>): Promise<never> & AsyncIterable<never> =>
  Object.assign(answer, {
    async *[Symbol.asyncIterator]() {
      yield await answer
    },
  })

async function parts(part: Promise<object | undefined>, outage: Outage): Promise<object | undefined> {
  const found = await part
  return found && failing(found, outage)
}

/** One that hangs does not even end when it is stopped. */
function subscription(real: Subscription, outage: Outage): Subscription {
  return {
    stop: () => real.stop(),
    async *[Symbol.asyncIterator]() {
      for await (const batch of real) {
        if (outage.fault === 'hangs') await never()
        if (outage.fault === 'away') throw new StoreUnavailable('it was made to be away')
        yield batch
      }
    },
  }
}
