import { truncates } from 'bcryptjs'
import { readFileSync } from 'node:fs'
import { Refusal } from '../domain/refusal.ts'

/** Characters (code points) of a password that is set. */
const SHORTEST = 8
const LONGEST = 128

/** The 10,000 most common passwords in lower case, the most common first; data/README.md tells their source. */
const COMMON = new URL('../../data/common-passwords.txt', import.meta.url)

let common: ReadonlySet<string> | undefined

/**
 * What holds for a password that is set from now on; those set before go on letting people in.
 * @throws Refusal invalid
 */
export function checkPassword(password: string): void {
  const length = [...password].length
  if (length < SHORTEST || length > LONGEST) {
    throw new Refusal('invalid', `A password has ${SHORTEST} to ${LONGEST} characters, got ${length}`)
  }
  // Bcrypt reads no further.
  if (truncates(password)) throw new Refusal('invalid', 'A password has at most 72 bytes of UTF-8')
  if (isCommon(password)) {
    throw new Refusal('invalid', 'This is one of the 10,000 most common passwords, which are tried first: take another')
  }
}

/** Read when the first password is set, which most processes never do. In any case of its letters. */
function isCommon(password: string): boolean {
  common ??= new Set(readFileSync(COMMON, 'utf8').split('\n'))
  return common.has(password.toLowerCase())
}
