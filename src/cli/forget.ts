import { Command } from 'commander'
import { forgetAccount, requireLogin, type ForgetAccountResult } from '../commands/accounts/forget-account.ts'
import { asAdminAction, withInstallation, type OpenInstallation } from './with-installation.ts'
import { confirm } from './confirm.ts'
import { formatQuantity, note, printResult, type OutputOptions } from './output.ts'
import { ACCOUNT } from './user.ts'

type ForgetOptions = OutputOptions & { readonly yes?: true }

/** `forget`: erases personal data. The event log and its proofs stay valid. */
export function forgetCommand(open: OpenInstallation): Command {
  const command = new Command('forget').description('Erase personal data').addHelpText('after', EXAMPLE)
  command
    .command('user')
    .description("Delete an account's e-mail address and revoke all of its access, permanently")
    .argument('<email>', ACCOUNT)
    .option('--yes', 'Skip the confirmation prompt')
    .addHelpText('after', HELP)
    .action((email: string, options: ForgetOptions) => forgetUser(open, email, options))
  return command
}

const EXAMPLE = `
Example:
  adamant forget user jane@example.com`

const HELP = `
This cannot be undone. The account's sessions and tokens are revoked, its webhooks deleted and its pending secrets burned.
The account number, the diamonds and their history remain, as do the event log and its proofs, but they no longer identify the
person. The e-mail address can be registered again, as a new account. If the command is interrupted, run the same command again to
resume.

Not erased: personal data in diamond fields, laboratory reports and client names; the address in existing backups, until you
delete them; and, for accounts registered with a release up to 4.0, the address in the event log. The command reports the latter.
${EXAMPLE}`

async function forgetUser(open: OpenInstallation, email: string, options: ForgetOptions): Promise<void> {
  const result = await withInstallation(open, async (installation) => {
    const { context, persons, vault } = installation
    const login = await requireLogin(context, email)
    await confirm({
      message: `This permanently deletes the e-mail address, sessions, tokens, webhooks and pending secrets of account ${login.account}.`,
      isConfirmed: options.yes === true,
      nonInteractiveMessage: 'forget deletes data permanently: confirm with --yes',
      declinedMessage: 'Cancelled; nothing was deleted',
    })
    // The security log must not contain the address that is being deleted.
    const action = { act: 'forget user', subject: `account ${login.account}` }
    return asAdminAction(action, (_, origin) => forgetAccount({ ...context, persons, vault }, login, origin))(
      installation,
    )
  })
  printForgetResult(result, options)
}

function printForgetResult({ account, events, plaintextStreams }: ForgetAccountResult, options: OutputOptions): void {
  if (plaintextStreams.length > 0) {
    note(
      `A release up to 4.0 wrote this address into the event log in plain text, in ${plaintextStreams.join(' and ')}. Events are ` +
        'immutable, so it remains there; removing those events would invalidate every proof',
    )
  }
  const text = `Account ${account} is forgotten (${formatQuantity(events, 'event')} appended)`
  printResult(options, { account, events }, text)
}
