import { Option, type Command } from 'commander'
import { text } from 'node:stream/consumers'
import { BadUsage } from './failure.ts'

export type PasswordOptions = { readonly password?: string; readonly passwordStdin?: true }

/** Adds the two ways to give a password. */
export function withPassword(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--password <password>',
        'the password; other users of this machine may see it in the list of processes',
      ),
    )
    .addOption(new Option('--password-stdin', 'read the password from stdin').conflicts('password'))
}

/** @throws BadUsage when no password was given */
export async function readPassword({ password, passwordStdin }: PasswordOptions): Promise<string> {
  if (passwordStdin === true) return (await text(process.stdin)).replace(/\r?\n$/, '')
  if (password === undefined) throw new BadUsage('Give the password by --password-stdin or --password')
  return password
}
