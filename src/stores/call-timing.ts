/** Told of each call: the seconds until its answer, and what it failed with. */
export type CallObserver = (seconds: number, error?: unknown) => void

/** Asked once for each kind of call: who is told of those. */
export type CallObserverFactory = (call: string) => CallObserver

/** Which calls are timed; where one gives something that is asked further, which of that. */
export type TimedCalls = { readonly [call: string]: 'itself' | TimedCalls }

type PortCall = (...asked: unknown[]) => unknown

/**
 * The same port, whose calls are timed. It is written once for whatever port there is: what answers at once goes on answering
 * at once, and what is not named is passed on as it is.
 */
export function withTiming<Port extends object>(port: Port, calls: TimedCalls, seenOf: CallObserverFactory): Port {
  const known = new Map<PropertyKey, unknown>()
  return new Proxy(port, {
    get(target, name) {
      if (known.has(name)) return known.get(name)
      const member: unknown = Reflect.get(target, name, target)
      if (typeof member !== 'function') return member
      const call = member.bind(target) as PortCall
      const passed = typeof name === 'string' ? timedCall(name, call, calls, seenOf) : call
      known.set(name, passed)
      return passed
    },
  })
}

function timedCall(name: string, call: PortCall, calls: TimedCalls, seenOf: CallObserverFactory): PortCall {
  const wanted = Object.hasOwn(calls, name) ? calls[name] : undefined
  if (wanted === undefined) return call
  if (wanted === 'itself') return measureCall(call, seenOf(name))
  const given = (answer: unknown) =>
    typeof answer === 'object' && answer !== null ? withTiming(answer, wanted, seenOf) : answer
  return (...asked) => {
    const answer = call(...asked)
    return answer instanceof Promise ? answer.then(given) : given(answer)
  }
}

function measureCall(call: PortCall, seen: CallObserver): PortCall {
  return (...asked) => {
    const started = performance.now()
    try {
      const answer = call(...asked)
      if (answer instanceof Promise) observeOutcome(answer, started, seen)
      else seen(since(started))
      return answer
    } catch (error) {
      seen(since(started), error)
      throw error
    }
  }
}

function observeOutcome(answer: Promise<unknown>, started: number, seen: CallObserver): void {
  answer.then(
    () => seen(since(started)),
    (error: unknown) => seen(since(started), error),
  )
}

const since = (started: number) => (performance.now() - started) / 1000
