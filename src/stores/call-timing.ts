/** Called after each call: the seconds until its promise settled, and the error if it failed. */
type CallObserver = (seconds: number, error?: unknown) => void

/** Called once for each operation; returns the observer for its calls. */
type CallObserverFactory = (operation: string) => CallObserver

/** The methods to time, with the names of their operations. A nested object times the calls on the object that a call resolves to. */
export type TimedCalls = { readonly [method: string]: string | TimedCalls }

type PortCall = (...args: unknown[]) => Promise<unknown>

/**
 * Wraps any port so that the named calls, which return promises, are timed. Other members are passed through unchanged.
 */
export function withTiming<Port extends object>(port: Port, calls: TimedCalls, observerFor: CallObserverFactory): Port {
  const wrappedMembers = new Map<PropertyKey, unknown>()
  return new Proxy(port, {
    get(target, name) {
      if (wrappedMembers.has(name)) return wrappedMembers.get(name)
      const member: unknown = Reflect.get(target, name, target)
      if (typeof member !== 'function') return member
      const call = member.bind(target) as PortCall
      const wrappedMember = typeof name === 'string' ? timedCall(name, call, calls, observerFor) : call
      wrappedMembers.set(name, wrappedMember)
      return wrappedMember
    },
  })
}

function timedCall(name: string, call: PortCall, calls: TimedCalls, observerFor: CallObserverFactory): PortCall {
  const timed = Object.hasOwn(calls, name) ? calls[name] : undefined
  if (timed === undefined) return call
  if (typeof timed === 'string') return measureCall(call, observerFor(timed))
  const wrap = (result: unknown) =>
    typeof result === 'object' && result !== null ? withTiming(result, timed, observerFor) : result
  return async (...args) => wrap(await call(...args))
}

function measureCall(call: PortCall, observe: CallObserver): PortCall {
  return async (...args) => {
    const started = performance.now()
    try {
      const result = await call(...args)
      observe(secondsSince(started))
      return result
    } catch (error) {
      observe(secondsSince(started), error)
      throw error
    }
  }
}

const secondsSince = (started: number) => (performance.now() - started) / 1000
