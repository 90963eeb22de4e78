import { createInterface } from 'node:readline/promises'
import { BadUsage, OperationFailure } from '../maintenance/operation.ts'
import { note } from './output.ts'

type ConfirmationPrompt = {
  /** What the command is about to do. */
  readonly message: string
  /** Whether `--yes` was given. */
  readonly isConfirmed: boolean
  /** The error without a terminal to prompt on. */
  readonly nonInteractiveMessage: string
  /** The error if the operator declines. */
  readonly declinedMessage: string
}

/**
 * Asks for confirmation on the terminal, unless `--yes` was given.
 * @throws BadUsage if there is no terminal, OperationFailure if the operator declines
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
    const answer = await terminal.question('Continue? (yes or no) ')
    if (!/^\s*y(es)?\s*$/i.test(answer)) throw new OperationFailure(declinedMessage)
  } finally {
    terminal.close()
  }
}
