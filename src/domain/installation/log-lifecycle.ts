import { z } from 'zod'
import { declareEvents, type EventOf } from '../event.ts'
import { COPY_STREAM, LOG_STREAM } from './read-only-state.ts'

/**
 * An installation is moved by copying its log. The source log is fenced permanently; the target log accepts no other writes
 * until the copy is complete.
 */

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
