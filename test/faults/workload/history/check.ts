import type { History, Violation } from './operation.ts'
import { hasOneReader } from './secrets.ts'
import { isThereOnce, listsAgree, readsSeeWrites, revisionsGrow } from './stones.ts'
import { endsWithItsEnd } from './tokens.ts'

/** What a service promises to all its clients together, whatever fails meanwhile. */
export const RULES: Readonly<Record<string, (history: History) => Iterable<string>>> = {
  'what was acknowledged is there once': ({ operations }) => isThereOnce(operations),
  'reads see what was written': ({ operations }) => readsSeeWrites(operations),
  'revisions grow': ({ operations }) => revisionsGrow(operations),
  'lists agree with single reads': ({ operations }) => listsAgree(operations),
  'a secret has one reader': ({ operations }) => hasOneReader(operations),
  'a token ends with its end': endsWithItsEnd,
}

/** Every promise that a history shows to be broken. */
export const violationsOf = (history: History): Violation[] =>
  Object.entries(RULES).flatMap(([rule, faults]) => Array.from(faults(history), (what) => ({ rule, what })))
