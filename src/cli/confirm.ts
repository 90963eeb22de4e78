import { createInterface } from 'node:readline/promises'
import { BadUsage, OperationFailure } from '../maintenance/operation.ts'
import { note } from './output.ts'

export type ConfirmationPrompt = {
  /** What will be, for whoever has to say yes to it. */
  readonly message: string
  /** Whether `--yes` said it already. */
  readonly isConfirmed: boolean
  /** What to do where nobody can be asked. */
  readonly nonInteractiveMessage: string
  /** What an answer other than yes has for a result. */
  readonly declinedMessage: string
}

/**
 * Asks on a terminal; elsewhere nobody can be asked, so that `--yes` has to say it.
 * @throws BadUsage without anybody to be asked, Failed where the answer is no
 */
export async function confirm({
  message,
  isConfirmed,
  nonInteractiveMessage,
  declinedMessage,
}: ConfirmationPrompt): Promise<void> {
  if (isConfirmed) return note(message)
  if (!process.stdin.isTTY || !process.stderr.isTTY) throw new BadUsage(nonInteractiveMessage)
  note(message)
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const answer = await terminal.question('Go on? (yes or no) ')
    if (!/^\s*y(es)?\s*$/i.test(answer)) throw new OperationFailure(declinedMessage)
  } finally {
    terminal.close()
  }
}
