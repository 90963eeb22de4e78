import { Command } from 'commander'
import { forgetAccount, requireLogin, type ForgetAccountResult } from '../commands/accounts/forget-account.ts'
import { asAdminAction, withInstallation, type OpenInstallation } from './with-installation.ts'
import { confirm } from './confirm.ts'
import { formatCount, note, printResult, type OutputOptions } from './output.ts'

type ForgetOptions = OutputOptions & { readonly yes?: true }

/** `forget`: what makes a person identifiable is deleted, and the log stays valid. */
export function forgetCommand(open: OpenInstallation): Command {
  const command = new Command('forget').description('forget a person').addHelpText('after', EXAMPLE)
  command
    .command('user')
    .description("delete an account's address, and end whatever could be done in its name, for good")
    .argument('<email>', 'its e-mail address, or its number, such as 7')
    .option('--yes', 'do not ask: it can not be taken back')
    .option('--json', 'print one line of JSON')
    .addHelpText('after', HELP)
    .action((email: string, options: ForgetOptions) => forgetUser(open, email, options))
  return command
}

const EXAMPLE = `
Example:
  npx adamant forget user jane@example.com`

const HELP = `
The account's number, its stones and their history stay, as the log and its proofs do; nothing says any more who it was.
Its sessions, tokens, webhooks and waiting secrets end, and its address can be registered again, as another account.
Interrupted at any point, the same command goes on where it was.

A release up to 4.0 wrote addresses into the log: of an account of that time the log has it for good, and the command says
so. What the person wrote elsewhere (fields of stones, reports, names of clients) is not looked at; backups that were made
before have the address until they are deleted.
${EXAMPLE}`

async function forgetUser(open: OpenInstallation, email: string, options: ForgetOptions): Promise<void> {
  const forgotten = await withInstallation(open, async (installation) => {
    const { writing, persons, vault } = installation
    const login = await requireLogin(writing, email)
    await confirm({
      message: `This forgets who account ${login.account} is, for good: its address, its sessions, tokens, webhooks and waiting secrets.`,
      isConfirmed: options.yes === true,
      nonInteractiveMessage: 'forget deletes for good: say so with --yes',
      declinedMessage: 'Nobody was forgotten',
    })
    // By its number: the security log is not to remember what is forgotten.
    const act = { act: 'forget user', subject: `account ${login.account}` }
    return asAdminAction(act, (_, by) => forgetAccount({ ...writing, persons, vault }, login, by))(installation)
  })
  printForgetResult(forgotten, options)
}

function printForgetResult({ account, events, plaintextStreams }: ForgetAccountResult, options: OutputOptions): void {
  if (plaintextStreams.length > 0) {
    note(
      `a release up to 4.0 wrote this address into the log, in ${plaintextStreams.join(' and ')}: events are never changed, so that it ` +
        'stays there in clear; only a log without these events is without it, and that ends every proof',
    )
  }
  const text = `account ${account} is forgotten: ${formatCount(events)} events say so, none of them who it was`
  printResult(options, { account, events }, text)
}
