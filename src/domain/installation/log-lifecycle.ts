import { z } from 'zod'
import { declareEvents, type EventOf } from '../event.ts'

/**
 * An installation is moved by copying its log. The source log is fenced permanently; the target log accepts no other writes
 * until the copy is complete.
 */

/** The stream of events about the log as a whole. Its first event is LogCreated. */
export const LOG_STREAM = 'log'

/** The target log's record of the copy. It exists only in the target and is not copied itself. */
export const COPY_STREAM = 'copy'

const copy = z.string().describe('id of the move')

/** Stores append LogCreated themselves as the first event of a log. Its identity lets consumers detect that a log was replaced. */
export const logLifecycleEvents = {
  ...declareEvents(LOG_STREAM, {
    LogCreated: {
      about:
        'The log was created. Its identity distinguishes it from other logs: checkpoints of another log are rejected.',
      payload: z.object({ identity: z.string() }),
    },
    LogFenced: {
      about: 'The log was fenced: it was moved and accepts no more writes.',
      payload: z.object({ copy, to: z.string().describe('the target installation, human-readable') }),
    },
    LogOpened: {
      about: 'The log accepts writes: its copy was completed, or the move that had fenced it was abandoned.',
      payload: z.object({ copy }),
    },
  }),
  ...declareEvents(COPY_STREAM, {
    CopyBegun: {
      about: 'A copy of another log into this log was started. Only the target log contains this event.',
      payload: z.object({
        copy,
        from: z.string().describe('the source, human-readable'),
        log: z.string().describe('identity of the source'),
        replay: z
          .literal(true)
          .optional()
          .describe('set if the copy is a replay: a read-only copy up to a past moment'),
      }),
    },
    CopyDone: {
      about: 'The copy was completed and verified.',
      payload: z.object({
        copy,
        events: z.int().min(0),
        digest: z.string().describe('SHA-256 over all events in order'),
      }),
    },
    ReplayMade: {
      about: 'A replay was completed: the log has the events of another one up to a moment and never accepts writes.',
      payload: z.object({
        copy: z.string().describe('id of the replay'),
        until: z.string().describe('the moment, human-readable'),
        events: z.int().min(0).describe('number of copied events'),
      }),
    },
    CopyAbandoned: {
      about: 'The move was abandoned before it was complete. The log cannot be used.',
      payload: z.object({ copy }),
    },
  }),
}
type LogLifecycleEventDeclarations = typeof logLifecycleEvents
export type LogFenced = EventOf<LogLifecycleEventDeclarations, 'LogFenced'>
export type LogOpened = EventOf<LogLifecycleEventDeclarations, 'LogOpened'>
export type CopyBegun = EventOf<LogLifecycleEventDeclarations, 'CopyBegun'>
export type CopyDone = EventOf<LogLifecycleEventDeclarations, 'CopyDone'>
export type ReplayMade = EventOf<LogLifecycleEventDeclarations, 'ReplayMade'>
export type CopyAbandoned = EventOf<LogLifecycleEventDeclarations, 'CopyAbandoned'>

/** Why a log accepts no writes. `read-only`: this process was started with `--read-only`; others may write. */
export type ReadOnlyState =
  | { readonly why: 'read-only'; readonly copy?: undefined }
  | { readonly why: 'replay'; readonly copy: string; readonly from: string; readonly until: string }
  | { readonly why: 'fenced'; readonly copy: string; readonly to: string }
  | { readonly why: 'unfinished' | 'half-replayed' | 'abandoned'; readonly copy: string; readonly from: string }

/** An event as stored, with unvalidated data. */
type StoredLifecycleEvent = { readonly type: string; readonly data: Readonly<Record<string, unknown>> }

/**
 * @param newestLogEvent the newest event of LOG_STREAM
 * @param copyEvents the events of COPY_STREAM, at most two
 */
export function readOnlyStateOf(
  newestLogEvent: StoredLifecycleEvent | undefined,
  copyEvents: readonly StoredLifecycleEvent[],
): ReadOnlyState | undefined {
  const [firstCopyEvent] = copyEvents
  const lastCopyEvent = copyEvents.at(-1)
  if (firstCopyEvent !== undefined && lastCopyEvent?.type === 'ReplayMade') {
    const from = text(firstCopyEvent.data['from'])
    return { why: 'replay', copy: text(lastCopyEvent.data['copy']), from, until: text(lastCopyEvent.data['until']) }
  }
  if (firstCopyEvent !== undefined && lastCopyEvent !== undefined && lastCopyEvent.type !== 'CopyDone') {
    const why =
      lastCopyEvent.type === 'CopyAbandoned'
        ? 'abandoned'
        : firstCopyEvent.data['replay']
          ? 'half-replayed'
          : 'unfinished'
    return { why, copy: text(firstCopyEvent.data['copy']), from: text(firstCopyEvent.data['from']) }
  }
  if (newestLogEvent?.type !== 'LogFenced') return undefined
  return { why: 'fenced', copy: text(newestLogEvent.data['copy']), to: text(newestLogEvent.data['to']) }
}

/** Events that record what has already happened outside, such as a sent mail: if they were rejected, it would happen again. */
const OUTCOMES: ReadonlySet<string> = new Set(['MailSent', 'MailRefused'])

/** Whether a log that accepts no writes accepts this append as an exception. */
export function isAppendAllowed({ why }: ReadOnlyState, stream: string, types: readonly string[]): boolean {
  if (isIntentionallyReadOnly(why)) return false
  return stream === LOG_STREAM || (why === 'fenced' && types.every((type) => OUTCOMES.has(type)))
}

/** Replays and `--read-only` are meant to be read-only: health checks do not report them as faults. */
export const isIntentionallyReadOnly = (why: ReadOnlyState['why']): why is 'replay' | 'read-only' =>
  why === 'replay' || why === 'read-only'

/** For operators: it names the other installation. */
export function describeReadOnlyState(state: ReadOnlyState): string {
  if (state.why === 'fenced') {
    return `This installation was moved to ${state.to}: it serves reads only; send writes to the new installation`
  }
  if (state.why === 'read-only') return 'This service was started with `serve --read-only`: it accepts no writes'
  if (state.why === 'replay') {
    return `This is a replay of ${state.from} until ${state.until}: it serves the state of that time and accepts no writes`
  }
  if (state.why === 'half-replayed') {
    return `This replay of ${state.from} was interrupted before it was complete: delete the folder and run \`npx adamant replay\` again`
  }
  const incompleteCopy = `This installation is an incomplete copy of ${state.from}`
  if (state.why === 'abandoned') return `${incompleteCopy}, and the move was abandoned: delete this installation`
  return `${incompleteCopy}: run the same \`npx adamant move\` command again to resume`
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '')
