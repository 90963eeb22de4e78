/** The stream of events about the log as a whole. Its first event is LogCreated. */
export const LOG_STREAM = 'log'

/** The target log's record of the copy. It exists only in the target and is not copied itself. */
export const COPY_STREAM = 'copy'

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
    return `This replay of ${state.from} was interrupted before it was complete: delete the folder and run \`adamant replay\` again`
  }
  const incompleteCopy = `This installation is an incomplete copy of ${state.from}`
  if (state.why === 'abandoned') return `${incompleteCopy}, and the move was abandoned: delete this installation`
  return `${incompleteCopy}: run the same \`adamant move\` command again to resume`
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '')
