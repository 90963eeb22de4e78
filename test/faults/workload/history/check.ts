import type { History, Violation } from './operation.ts'
import { hasOneReader } from './secrets.ts'
import { stonesExistOnce, listsAgree, readsSeeWrites, revisionsGrow } from './stones.ts'
import { tokensEnd } from './tokens.ts'

/** The guarantees of the service, which hold during any fault, with their checks (docs/faults.md). */
export const RULES: Readonly<Record<string, (history: History) => Iterable<string>>> = {
  'acknowledged writes exist exactly once': ({ operations }) => stonesExistOnce(operations),
  'reads return acknowledged writes': ({ operations }) => readsSeeWrites(operations),
  'revisions increase': ({ operations }) => revisionsGrow(operations),
  'lists agree with single reads': ({ operations }) => listsAgree(operations),
  'a secret has one reader': ({ operations }) => hasOneReader(operations),
  'tokens are valid until they end': tokensEnd,
}

/** All violations of the guarantees in a history. */
export const violationsOf = (history: History): Violation[] =>
  Object.entries(RULES).flatMap(([rule, faults]) =>
    Array.from(faults(history), (description) => ({ rule, description })),
  )
