/** Told of each call: which one, the seconds until its answer, and what it failed with. */
export type CallSeen = (call: string, seconds: number, error?: unknown) => void

/** Which calls are timed; where one gives something that is asked further, which of that. */
export type TimedCalls = { readonly [call: string]: 'itself' | TimedCalls }

type Call = (...asked: unknown[]) => unknown

/**
 * The same port, whose calls are timed. It is written once for whatever port there is: what answers at once goes on answering
 * at once, and what is not named is passed on as it is.
 */
export function timed<Port extends object>(port: Port, calls: TimedCalls, seen: CallSeen): Port {
  const known = new Map<PropertyKey, unknown>()
  return new Proxy(port, {
    get(target, name) {
      if (known.has(name)) return known.get(name)
      const member: unknown = Reflect.get(target, name, target)
      if (typeof member !== 'function') return member
      const call: Call = (...asked) => Reflect.apply(member, target, asked)
      const passed = typeof name === 'string' ? timedCall(name, call, calls, seen) : call
      known.set(name, passed)
      return passed
    },
  })
}

function timedCall(name: string, call: Call, calls: TimedCalls, seen: CallSeen): Call {
  const wanted = Object.hasOwn(calls, name) ? calls[name] : undefined
  if (wanted === undefined) return call
  if (wanted === 'itself') return measured(name, call, seen)
  const given = (answer: unknown) =>
    typeof answer === 'object' && answer !== null ? timed(answer, wanted, seen) : answer
  return (...asked) => {
    const answer = call(...asked)
    return answer instanceof Promise ? answer.then(given) : given(answer)
  }
}

function measured(name: string, call: Call, seen: CallSeen): Call {
  return (...asked) => {
    const started = performance.now()
    const over = (error?: unknown) => seen(name, (performance.now() - started) / 1000, error)
    try {
      const answer = call(...asked)
      if (answer instanceof Promise) answer.then(() => over(), over)
      else over()
      return answer
    } catch (error) {
      over(error)
      throw error
    }
  }
}
