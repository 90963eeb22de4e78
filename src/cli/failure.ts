import { CommanderError } from 'commander'
import { WrongMasterKey } from '../commands/installation/link-key.ts'
import { BadMasterKey } from '../credentials/master-keys.ts'
import { RequestError } from '../domain/request-error.ts'
import { BadFolder, NoInstallation } from '../wiring/installation.ts'
import { BadSettings } from '../wiring/settings.ts'
import { CorruptEvent, EventsRemoved, OutcomeUnknown, StoreUnavailable } from '../stores/ports/event-store.ts'
import { InvalidEventPayload, UnsupportedEventVersion } from '../events/decode.ts'
import { BadUsage, OperationFailure } from '../maintenance/operation.ts'
import { userName } from './os-user.ts'
import { note } from './output.ts'

export const EXIT_FAILURE = 1
const EXIT_USAGE = 2

/** Prints on stderr what went wrong and how to fix it. @returns the exit code */
export function reportFailure(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE
  if (error instanceof BadSettings) {
    note('Invalid settings; correct them in the environment, or in the files of --settings, and try again:')
    for (const fault of error.faults) note(`  ${fault}`)
    return EXIT_USAGE
  }
  note(`adamant: ${explain(error)}`)
  return isUsageError(error) ? EXIT_USAGE : EXIT_FAILURE
}

const isUsageError = (error: unknown): boolean =>
  error instanceof RequestError
    ? error.kind === 'invalid'
    : [BadUsage, NoInstallation, BadFolder].some((usage) => error instanceof usage)

/** What went wrong and how to fix it; for a bug in the program, the stack trace. */
export function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return isExpected(error) ? error.message : (describeSystemError(error) ?? error.stack ?? error.message)
}

/** Errors whose message tells the operator all that is needed. */
const EXPECTED = [
  BadUsage,
  OperationFailure,
  NoInstallation,
  BadFolder,
  RequestError,
  BadMasterKey,
  WrongMasterKey,
  StoreUnavailable,
  OutcomeUnknown,
  UnsupportedEventVersion,
  InvalidEventPayload,
  CorruptEvent,
  EventsRemoved,
]

const isExpected = (error: Error) => EXPECTED.some((expected) => error instanceof expected)

type SystemError = NodeJS.ErrnoException & {
  readonly address?: string
  readonly port?: number
  readonly hostname?: string
}

/** The message for a system error that an operator can fix. */
function describeSystemError(error: Error): string | undefined {
  const { code = '', path, address, port, hostname } = error as SystemError
  const remedy = code === 'EACCES' || code === 'EPERM' ? permissionRemedy(port) : SYSTEM_ERROR_REMEDIES[code]
  if (remedy === undefined) return undefined
  const resource = path ?? hostname ?? [address, port].filter((part) => part !== undefined).join(':')
  // A write to an open file fails without its path.
  return `${resource || 'a file'} ${remedy}`
}

const permissionRemedy = (port: number | undefined): string =>
  port === undefined
    ? `cannot be used by the user ${userName()} (permission denied); use another place, or give this user access`
    : 'cannot be used (permission denied); set PORT, or METRICS_PORT, to 1024 or higher'

const SYSTEM_ERROR_REMEDIES: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use by another process; stop that one, or set PORT (or METRICS_PORT) to a free port (0 takes any)',
  EADDRNOTAVAIL: 'is not an address of this machine; set HOST to one, such as 127.0.0.1',
  ENOTFOUND: 'cannot be resolved; set HOST to an address of this machine, such as 127.0.0.1',
  EAI_AGAIN: 'cannot be resolved at the moment; set HOST to an address of this machine, such as 127.0.0.1',
  EROFS: 'is on a read-only file system',
  ENOENT: 'does not exist',
  EISDIR: 'is a folder, not a file',
  EEXIST: 'is a file where a folder should be; set DATA_DIR to a folder',
  ENOTDIR: 'has a file where a folder should be; set DATA_DIR to a folder',
  ENOSPC: 'is on a full disk; free up space and try again',
  SQLITE_CANTOPEN: 'in DATA_DIR cannot be opened; set DATA_DIR to a folder you can write to',
  SQLITE_FULL: 'is on a full disk; free up space and try again',
}
