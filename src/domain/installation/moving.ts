/**
 * An installation is moved by copying its log. The log that is left is fenced for good, the one that is filled takes
 * nothing else before it is complete.
 */

/** The stream of what befalls the log as a whole. Its first event is LogCreated. */
export const LOG_STREAM = 'log'

/** A log begins with it: whatever follows the log knows by this whether it is still the same one. Stores write it themselves. */
export type LogCreated = { readonly type: 'LogCreated'; readonly data: { readonly identity: string } }

/** What a log that is being filled knows of it. It stands in that log alone, and is no part of what is copied. */
export const COPY_STREAM = 'copy'

/** From here on the log takes no more writes: they are the log's to which copy `copy` goes. */
export type LogFenced = { readonly type: 'LogFenced'; readonly data: { readonly copy: string; readonly to: string } }

/** The log takes writes again: the one that was filled because it is complete, the one that was left because it is not. */
export type LogOpened = { readonly type: 'LogOpened'; readonly data: { readonly copy: string } }

export type CopyBegun = {
  readonly type: 'CopyBegun'
  /** from: names the source for people. log: its identity. replay: it is filled to a past moment, and never goes on. */
  readonly data: { readonly copy: string; readonly from: string; readonly log: string; readonly replay?: true }
}

export type CopyDone = {
  readonly type: 'CopyDone'
  /** digest: SHA-256 over all events in their order, in hex. */
  readonly data: { readonly copy: string; readonly events: number; readonly digest: string }
}

export type CopyAbandoned = { readonly type: 'CopyAbandoned'; readonly data: { readonly copy: string } }

/** The log was filled to a past moment of another one, to be looked at: it never takes a write. */
export type ReplayMade = {
  readonly type: 'ReplayMade'
  /** until: the moment, for people. events: how many of the other log there are. */
  readonly data: { readonly copy: string; readonly until: string; readonly events: number }
}

/** Why a log takes no writes. `read-only`: only this process must not. */
export type Closed =
  | { readonly why: 'read-only'; readonly copy?: undefined }
  | { readonly why: 'replay'; readonly copy: string; readonly from: string; readonly until: string }
  | { readonly why: 'fenced'; readonly copy: string; readonly to: string }
  | { readonly why: 'unfinished' | 'half-replayed' | 'abandoned'; readonly copy: string; readonly from: string }

/** An event as a store has it: nothing is known of its data. */
type Found = { readonly type: string; readonly data: Readonly<Record<string, unknown>> }

/**
 * @param log the newest event of LOG_STREAM
 * @param copy the events of COPY_STREAM: there are at most two
 */
export function closedBy(log: Found | undefined, copy: readonly Found[]): Closed | undefined {
  const [begun] = copy
  const ended = copy.at(-1)
  if (begun !== undefined && ended?.type === 'ReplayMade') {
    const from = text(begun.data['from'])
    return { why: 'replay', copy: text(ended.data['copy']), from, until: text(ended.data['until']) }
  }
  if (begun !== undefined && ended !== undefined && ended.type !== 'CopyDone') {
    const why = ended.type === 'CopyAbandoned' ? 'abandoned' : begun.data['replay'] ? 'half-replayed' : 'unfinished'
    return { why, copy: text(begun.data['copy']), from: text(begun.data['from']) }
  }
  if (log?.type !== 'LogFenced') return undefined
  return { why: 'fenced', copy: text(log.data['copy']), to: text(log.data['to']) }
}

/** What only puts on record what has happened outside already: kept out, it would happen once more. */
const OUTCOMES: ReadonlySet<string> = new Set(['MailSent', 'MailRefused'])

/** Whether a log that is closed takes an append all the same. */
export function passes({ why }: Closed, stream: string, types: readonly string[]): boolean {
  if (isForReading(why)) return false
  return stream === LOG_STREAM || (why === 'fenced' && types.every((type) => OUTCOMES.has(type)))
}

/** Closed because it is only to be read: that is no fault. */
export const isForReading = (why: Closed['why']): why is 'replay' | 'read-only' =>
  why === 'replay' || why === 'read-only'

/** For operators: it names the other installation. */
export function reasonOf(closed: Closed): string {
  if (closed.why === 'fenced') {
    return `This installation is moved to ${closed.to}: it answers reads only, and its writes go there`
  }
  if (closed.why === 'read-only') return 'This service was started by `serve --read-only`: it takes no writes'
  if (closed.why === 'replay') {
    return `This is a replay of ${closed.from} until ${closed.until}: it shows what was, and takes no writes`
  }
  if (closed.why === 'half-replayed') {
    return `This replay of ${closed.from} was ended before it was whole: delete the folder, and run \`npx adamant replay\` again`
  }
  const begun = `This installation was begun as a copy of ${closed.from}`
  if (closed.why === 'abandoned') return `${begun}, which was given up: it can be deleted, and is of no other use`
  return `${begun}, which is not finished: run \`npx adamant move\` again, and it goes on where it was`
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '')
