import { z } from 'zod'
import { declareEvents, type EventOf } from '../event.ts'

/**
 * An installation is moved by copying its log. The log that is left is fenced for good, the one that is filled takes
 * nothing else before it is complete.
 */

/** The stream of what befalls the log as a whole. Its first event is LogCreated. */
export const LOG_STREAM = 'log'

/** What a log that is being filled knows of it. It stands in that log alone, and is no part of what is copied. */
export const COPY_STREAM = 'copy'

const copy = z.string().describe('id of the move')

/** A log begins with LogCreated, by which whatever follows it knows whether it is still the same one: stores write it themselves. */
export const logLifecycleEvents = {
  ...declareEvents(LOG_STREAM, {
    LogCreated: {
      about: 'The log began. Its identity tells a checkpoint of this log from one of another.',
      payload: z.object({ identity: z.string() }),
    },
    LogFenced: {
      about: 'The log takes no more writes: it was moved, and writes go to the other one.',
      payload: z.object({ copy, to: z.string().describe('the other installation, for people') }),
    },
    LogOpened: {
      about: 'The log takes writes: it was filled completely, or a move that had closed it was given up.',
      payload: z.object({ copy }),
    },
  }),
  ...declareEvents(COPY_STREAM, {
    CopyBegun: {
      about: 'This log is being filled with the events of another one. It stands in the filled log alone.',
      payload: z.object({
        copy,
        from: z.string().describe('the source, for people'),
        log: z.string().describe('identity of the source'),
        replay: z.literal(true).optional().describe('it is filled to a past moment, to be looked at'),
      }),
    },
    CopyDone: {
      about: 'It holds all of them, and they were compared.',
      payload: z.object({
        copy,
        events: z.int().min(0),
        digest: z.string().describe('SHA-256 over all events in their order'),
      }),
    },
    ReplayMade: {
      about: 'This log has the events of another one up to a moment, to be looked at: it never takes a write.',
      payload: z.object({
        copy: z.string().describe('id of the replay'),
        until: z.string().describe('the moment, for people'),
        events: z.int().min(0).describe("how many of the source's events it has"),
      }),
    },
    CopyAbandoned: {
      about: 'The move was given up before it was complete: this log is of no use.',
      payload: z.object({ copy }),
    },
  }),
}
type LogLifecycleEventDeclarations = typeof logLifecycleEvents
export type LogCreated = EventOf<LogLifecycleEventDeclarations, 'LogCreated'>
export type LogFenced = EventOf<LogLifecycleEventDeclarations, 'LogFenced'>
export type LogOpened = EventOf<LogLifecycleEventDeclarations, 'LogOpened'>
export type CopyBegun = EventOf<LogLifecycleEventDeclarations, 'CopyBegun'>
export type CopyDone = EventOf<LogLifecycleEventDeclarations, 'CopyDone'>
export type ReplayMade = EventOf<LogLifecycleEventDeclarations, 'ReplayMade'>
export type CopyAbandoned = EventOf<LogLifecycleEventDeclarations, 'CopyAbandoned'>

/** Why a log takes no writes. `read-only`: only this process must not. */
export type ReadOnlyState =
  | { readonly why: 'read-only'; readonly copy?: undefined }
  | { readonly why: 'replay'; readonly copy: string; readonly from: string; readonly until: string }
  | { readonly why: 'fenced'; readonly copy: string; readonly to: string }
  | { readonly why: 'unfinished' | 'half-replayed' | 'abandoned'; readonly copy: string; readonly from: string }

/** An event as a store has it: nothing is known of its data. */
type StoredLifecycleEvent = { readonly type: string; readonly data: Readonly<Record<string, unknown>> }

/**
 * @param log the newest event of LOG_STREAM
 * @param copy the events of COPY_STREAM: there are at most two
 */
export function readOnlyStateOf(
  log: StoredLifecycleEvent | undefined,
  copy: readonly StoredLifecycleEvent[],
): ReadOnlyState | undefined {
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
export function isAppendAllowed({ why }: ReadOnlyState, stream: string, types: readonly string[]): boolean {
  if (isIntentionallyReadOnly(why)) return false
  return stream === LOG_STREAM || (why === 'fenced' && types.every((type) => OUTCOMES.has(type)))
}

/** Closed because it is only to be read: that is no fault. */
export const isIntentionallyReadOnly = (why: ReadOnlyState['why']): why is 'replay' | 'read-only' =>
  why === 'replay' || why === 'read-only'

/** For operators: it names the other installation. */
export function describeReadOnlyState(closed: ReadOnlyState): string {
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
