import { createInterface } from 'node:readline/promises'
import { BadUsage, Failed } from '../maintenance/operation.ts'
import { note } from './output.ts'

export type Question = {
  /** What will be, for whoever has to say yes to it. */
  readonly what: string
  /** Whether `--yes` said it already. */
  readonly yes: boolean
  /** What to do where nobody can be asked. */
  readonly instead: string
  /** What an answer other than yes has for a result. */
  readonly refused: string
}

/**
 * Asks on a terminal; elsewhere nobody can be asked, so that `--yes` has to say it.
 * @throws BadUsage without anybody to be asked, Failed where the answer is no
 */
export async function confirm({ what, yes, instead, refused }: Question): Promise<void> {
  if (yes) return note(what)
  if (!process.stdin.isTTY || !process.stderr.isTTY) throw new BadUsage(instead)
  note(what)
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const answer = await terminal.question('Go on? (yes or no) ')
    if (!/^\s*y(es)?\s*$/i.test(answer)) throw new Failed(refused)
  } finally {
    terminal.close()
  }
}
