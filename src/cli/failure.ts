import { CommanderError } from 'commander'
import { WrongMasterKey } from '../commands/installation/link-key.ts'
import { BadMasterKey } from '../credentials/master-keys.ts'
import { RequestError } from '../domain/decider.ts'
import { BadFolder, NoInstallation } from '../wiring/installation.ts'
import { BadSettings } from '../wiring/settings.ts'
import { CorruptEvent, StoreUnavailable } from '../stores/ports/event-store.ts'
import { InvalidEventPayload, UnsupportedEventVersion } from '../events/decode.ts'
import { BadUsage, OperationFailure } from '../maintenance/operation.ts'
import { note } from './output.ts'

export const EXIT_FAILURE = 1
const EXIT_USAGE = 2

/** Says on stderr what went wrong and how to mend it. @returns the exit code */
export function reportFailure(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE
  if (error instanceof BadSettings) {
    note('These settings can not be used; set them in the environment and try again:')
    for (const fault of error.faults) note(`  ${fault}`)
    return EXIT_USAGE
  }
  note(`adamant: ${explain(error)}`)
  return [BadUsage, NoInstallation, BadFolder].some((usage) => error instanceof usage) ? EXIT_USAGE : EXIT_FAILURE
}

/** Says what went wrong and how to mend it; of a fault of the program's own, where. */
export function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return isExpected(error) ? error.message : (systemFault(error) ?? error.stack ?? error.message)
}

/** What an operator did, or what stands in the way: the message says all there is to say. */
const EXPECTED = [
  BadUsage,
  OperationFailure,
  NoInstallation,
  BadFolder,
  RequestError,
  BadMasterKey,
  WrongMasterKey,
  StoreUnavailable,
  UnsupportedEventVersion,
  InvalidEventPayload,
  CorruptEvent,
]

const isExpected = (error: Error) => EXPECTED.some((expected) => error instanceof expected)

type SystemFault = NodeJS.ErrnoException & {
  readonly address?: string
  readonly port?: number
  readonly hostname?: string
}

/** Faults of the system that an operator can mend, by their code. */
function systemFault(error: Error): string | undefined {
  const { code, path, address, port, hostname } = error as SystemFault
  const mend = code === undefined ? undefined : SYSTEM_ERROR_REMEDIES[code]
  if (mend === undefined) return undefined
  const where = path ?? hostname ?? [address, port].filter((part) => part !== undefined).join(':')
  return `${where} ${mend}`.trim()
}

const SYSTEM_ERROR_REMEDIES: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use by another process; stop that one, or set PORT to a free port (PORT=0 takes any)',
  EADDRNOTAVAIL: 'is no address of this machine; set HOST to one that is, such as 127.0.0.1',
  ENOTFOUND: 'is no name that this machine can look up; set HOST to an address of it, such as 127.0.0.1',
  EAI_AGAIN: 'could not be looked up; set HOST to an address of this machine, such as 127.0.0.1',
  EACCES: 'may not be used by this user; set PORT to 1024 or more, and DATA_DIR to a folder you can write to',
  EPERM: 'may not be used by this user; set DATA_DIR to a folder you can write to',
  EROFS: 'is on a read-only disk; set DATA_DIR to a folder you can write to',
  ENOENT: 'does not exist',
  EISDIR: 'is a folder, not a file',
  EEXIST: 'is a file where a folder should be; set DATA_DIR to a folder',
  ENOTDIR: 'has a file where a folder should be; set DATA_DIR to a folder',
  ENOSPC: 'is on a full disk; make room and try again',
  SQLITE_CANTOPEN: 'can not be opened; set DATA_DIR to a folder you can write to',
  SQLITE_FULL: 'is on a full disk; make room and try again',
  SQLITE_NOTADB: 'is no database; set DATA_DIR to another folder',
}
