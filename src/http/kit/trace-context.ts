/** What a header of version 00 is, and what one of a later version begins with: https://www.w3.org/TR/trace-context/#traceparent-header */
const HEADER = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-[^,]*)?$/

/** The one flag that there is in version 00: whether the caller records the trace. */
const SAMPLED = 1

/**
 * The trace that a request is a part of, as `traceparent` of version 00. A header that is none is as if it were not there: a caller
 * is never refused for it. The service records no spans of its own, so what it asks of others stays below its caller's span.
 * @returns undefined where there is none
 */
export function traceOf(header: string | readonly string[] | undefined): string | undefined {
  if (typeof header !== 'string') return undefined
  const [, version, trace, parent, flags = '', more] = HEADER.exec(header.trim()) ?? []
  if (version === undefined || (version === '00' && more !== undefined)) return undefined
  const sampled = Number.parseInt(flags, 16) & SAMPLED
  return `00-${trace}-${parent}-0${sampled}`
}
