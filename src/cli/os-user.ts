import { statSync } from 'node:fs'
import { userInfo } from 'node:os'

/**
 * The operating system's user who started this process, such as `alice`, `alice as root` (with sudo) or `uid 1000` (without a
 * name); also after `workAsOwnerOf`.
 */
export const OS_USER = osUser()

function osUser(): string {
  const name = userName()
  const sudoUser = process.env['SUDO_USER']
  return sudoUser === undefined || sudoUser === name ? name : `${sudoUser} as ${name}`
}

/** The name of the user that this process works as, such as `adamant` or `uid 1000`. */
export function userName(): string {
  try {
    return userInfo().username
  } catch {
    // In containers the user often has no entry in /etc/passwd.
    return `uid ${process.getuid?.() ?? 'unknown'}`
  }
}

/** If this process runs as root, lets it go on as the owner of a folder: the service could not write files of root. */
export function workAsOwnerOf(folder: string): void {
  const owner = process.getuid?.() === 0 ? statSync(folder, { throwIfNoEntry: false }) : undefined
  if (owner === undefined || owner.uid === 0) return
  process.setgroups?.([])
  process.setgid?.(owner.gid)
  process.setuid?.(owner.uid)
}
