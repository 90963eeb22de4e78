import { Argument, Command, Option } from 'commander'
import { text } from 'node:stream/consumers'
import {
  changePassword,
  changePlan,
  disableAccount,
  enableAccount,
  registerAccount,
  type ChangedAccount,
} from '../commands/accounts/accounts.ts'
import type { AccountDirectory } from '../commands/accounts/account-directory.ts'
import { IdAllocator } from '../commands/installation/id-allocator.ts'
import { PasswordHasher } from '../credentials/password-hasher.ts'
import {
  accountFold,
  PLANS,
  type ApiTokenHandling,
  type Plan,
  type RegisteredAccount,
} from '../domain/account/account.ts'
import type { Origin } from '../events/event-metadata.ts'
import { foldStreams } from '../events/load-stream.ts'
import type { Installation } from '../wiring/installation.ts'
import {
  asAdminAction,
  withInstallation,
  withNewInstallation,
  type AdminAction,
  type OpenInstallation,
} from './with-installation.ts'
import { BadUsage } from '../maintenance/operation.ts'
import { noteSkippedEvent, printResult, table, type OutputOptions } from './output.ts'

/** What the commands accept as an account. */
export const ACCOUNT = 'E-mail address or number of the account, such as 7'

export type PasswordOptions = { readonly password?: string; readonly passwordStdin?: true }

/** Adds `--password` and `--password-stdin`. */
export function addPasswordOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--password <password>', 'Password; other users of this machine can see it in the process list'),
    )
    .addOption(new Option('--password-stdin', 'Read the password from stdin').conflicts('password'))
}

/** @throws BadUsage if no password was given */
export async function readPassword({ password, passwordStdin }: PasswordOptions): Promise<string> {
  if (passwordStdin === true) return (await text(process.stdin)).replace(/\r?\n$/, '')
  if (password === undefined) throw new BadUsage('Missing password: use --password-stdin or --password')
  return password
}

const KEEP_OPTION = ['--keep-api-tokens', 'Do not revoke API tokens'] as const

/** `user`: accounts, which own diamonds and secrets. */
export function userCommand(open: OpenInstallation): Command {
  const command = new Command('user').description('Manage accounts').addHelpText('after', EXAMPLE)
  command.addCommand(
    addPasswordOptions(
      new Command('add').description('Register an account').argument('<email>', 'E-mail address of the account'),
    )
      .addOption(new Option('--plan <plan>', 'Plan of the account').choices(PLANS).default('basic'))
      .addHelpText('after', EXAMPLE)
      .action((email: string, options: UserAddOptions) => add(open, email, options)),
  )
  command.addCommand(
    new Command('list')
      .description('List the accounts')
      .addHelpText('after', '\nExample:\n  adamant user list --json')
      .action((options: OutputOptions) => list(open, options)),
  )
  command.addCommand(
    addPasswordOptions(
      new Command('password')
        .description("Set an account's password and revoke its tokens")
        .argument('<email>', ACCOUNT),
    )
      .option(...KEEP_OPTION)
      .addHelpText('after', '\nExample:\n  adamant user password jane@example.com --password-stdin < password.txt')
      .action((email: string, options: KeepApiTokensOptions & PasswordOptions) => setPassword(open, email, options)),
  )
  command.addCommand(
    new Command('plan')
      .description("Change an account's plan")
      .argument('<email>', ACCOUNT)
      .addArgument(new Argument('<plan>', 'New plan').choices(PLANS))
      .addHelpText('after', '\nExample:\n  adamant user plan jane@example.com pro')
      .action((email: string, plan: Plan, options: OutputOptions) =>
        change(
          open,
          options,
          { act: 'user plan', subject: email, outcome: `is on the plan ${plan}` },
          ({ context }, origin) => changePlan(context, { email, plan }, origin),
        ),
      ),
  )
  command.addCommand(
    new Command('disable')
      .description('Disable an account and revoke its tokens')
      .argument('<email>', ACCOUNT)
      .option(...KEEP_OPTION)
      .addHelpText('after', '\nExample:\n  adamant user disable jane@example.com')
      .action((email: string, options: KeepApiTokensOptions) =>
        change(open, options, { act: 'user disable', subject: email, outcome: 'is disabled' }, ({ context }, origin) =>
          disableAccount(context, { email, apiTokens: apiTokenHandlingOf(options) }, origin),
        ),
      ),
  )
  command.addCommand(
    new Command('enable')
      .description('Enable a disabled account')
      .argument('<email>', ACCOUNT)
      .addHelpText('after', '\nExample:\n  adamant user enable jane@example.com')
      .action((email: string, options: OutputOptions) =>
        change(open, options, { act: 'user enable', subject: email, outcome: 'is enabled' }, ({ context }, origin) =>
          enableAccount(context, email, origin),
        ),
      ),
  )
  return command
}

const EXAMPLE = `
Example:
  adamant user add jane@example.com --plan pro --password-stdin < password.txt`

type KeepApiTokensOptions = OutputOptions & { readonly keepApiTokens?: true }
const apiTokenHandlingOf = ({ keepApiTokens }: KeepApiTokensOptions): ApiTokenHandling =>
  keepApiTokens === true ? 'kept' : 'ended'

type UserAddOptions = OutputOptions & PasswordOptions & { readonly plan: Plan }

async function add(open: OpenInstallation, email: string, options: UserAddOptions): Promise<void> {
  const password = await readPassword(options)
  const task = asAdminAction({ act: 'user add', subject: email }, ({ context }, origin) =>
    withPasswordHasher(async (passwords) => {
      const accountIds = new IdAllocator({ ...context, kind: 'account', size: 1, origin })
      const newAccount = { email, password, plan: options.plan }
      return registerAccount({ ...context, passwords, accountIds }, newAccount, origin)
    }),
  )
  printChange(options, 'is registered', await withNewInstallation(open, task))
}

async function setPassword(
  open: OpenInstallation,
  email: string,
  options: KeepApiTokensOptions & PasswordOptions,
): Promise<void> {
  const password = await readPassword(options)
  const action = { act: 'user password', subject: email, outcome: 'has a new password' }
  await change(open, options, action, ({ context }, origin) =>
    withPasswordHasher((passwords) =>
      changePassword({ ...context, passwords }, { email, password, apiTokens: apiTokenHandlingOf(options) }, origin),
    ),
  )
}

async function change(
  open: OpenInstallation,
  options: OutputOptions,
  { outcome, ...action }: AdminAction & { readonly outcome: string },
  run: (installation: Installation, origin: Origin) => Promise<ChangedAccount>,
): Promise<void> {
  printChange(options, outcome, await withInstallation(open, asAdminAction(action, run)))
}

function printChange(options: OutputOptions, outcome: string, { account, email }: ChangedAccount): void {
  printResult(options, { account, email }, `${email} ${outcome} (account ${account})`)
}

async function list(open: OpenInstallation, options: OutputOptions): Promise<void> {
  const accounts = await withInstallation(open, async ({ store, people }) => {
    const states = await foldStreams(store, 'account-', accountFold, noteSkippedEvent)
    const found = []
    for (const [id, state] of states) {
      if (state.status !== 'unknown') found.push(await row(people, Number(id), state))
    }
    return found
  })
  const rows = accounts.map(({ account, email, plan, status }) => [String(account), email, plan, status])
  printResult(options, { accounts }, table(['account', 'email', 'plan', 'status'], rows))
}

const row = async (people: AccountDirectory, account: number, state: RegisteredAccount) => ({
  account,
  email: await people.displayNameOf(account, state),
  plan: state.plan,
  status: state.status,
})

async function withPasswordHasher<Result>(task: (passwords: PasswordHasher) => Promise<Result>): Promise<Result> {
  const passwords = new PasswordHasher()
  try {
    return await task(passwords)
  } finally {
    await passwords.close()
  }
}
