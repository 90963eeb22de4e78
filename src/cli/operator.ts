import { randomUUID } from 'node:crypto'
import { userInfo } from 'node:os'
import type { Origin } from '../events/origin.ts'

/** Who stands behind what a command writes; one run of it has one correlation id. */
export const operator = (): Origin => ({ actor: 'operator', via: 'cli', correlation: randomUUID(), osUser: osUser() })

/** The operating system's user who runs the command, `alice as root` where sudo says so; a number where it has no name. */
function osUser(): string {
  const uid = process.getuid?.()
  const name = nameOf(uid)
  const behind = uid === 0 ? process.env['SUDO_USER'] : undefined
  return behind === undefined || behind === name ? name : `${behind} as ${name}`
}

function nameOf(uid: number | undefined): string {
  try {
    return userInfo().username
  } catch {
    // Containers run as users that no file names.
    return uid === undefined ? 'unknown' : `uid ${uid}`
  }
}
