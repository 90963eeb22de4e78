import { Command } from 'commander'
import { issueApiToken } from '../commands/issue-api-token.ts'
import { accountFold, accountOf } from '../commands/logins.ts'
import { revokeApiToken } from '../commands/revoke-api-token.ts'
import type { ApiToken } from '../domain/account.ts'
import type { EventStore } from '../stores/event-store.ts'
import { foldStreams } from '../projections/fold-streams.ts'
import { administering } from './administer.ts'
import { withInstallation, type Open } from './installed.ts'
import { printResult, table, type OutputOptions } from './output.ts'

/** `token`: the API tokens of the secrets API. */
export function tokenCommand(open: Open): Command {
  const command = new Command('token').description('API tokens of the secrets API').addHelpText('after', ADD)
  command
    .command('add')
    .description('give an account an API token; it is told this once')
    .argument('<email>')
    .option('--json', 'print one line of JSON')
    .addHelpText('after', ADD)
    .action((email: string, options: OutputOptions) => add(open, email, options))
  command
    .command('list')
    .description('list the API tokens of one account or of all, by their ids')
    .argument('[email]')
    .option('--json', 'print one line of JSON')
    .addHelpText('after', '\nExample:\n  npx adamant token list jane@example.com')
    .action((email: string | undefined, options: OutputOptions) => list(open, email, options))
  command
    .command('revoke')
    .description('end an API token, named by the id that `token list` shows')
    .argument('<email>')
    .argument('<id>')
    .option('--json', 'print one line of JSON')
    .addHelpText('after', '\nExample:\n  npx adamant token revoke jane@example.com 4c1d0a6f93be')
    .action((email: string, id: string, options: OutputOptions) => revoke(open, email, id, options))
  return command
}

const ADD = `
Example:
  npx adamant token add jane@example.com`

async function add(open: Open, email: string, options: OutputOptions): Promise<void> {
  const act = administering({ act: 'token add', subject: email }, ({ writing }, by) =>
    issueApiToken(writing, email, by),
  )
  const { id, token } = await withInstallation(open, act)
  printResult(options, { token, id }, `${token}\n(told this once; its id is ${id})`)
}

async function revoke(open: Open, email: string, id: string, options: OutputOptions): Promise<void> {
  const act = administering({ act: 'token revoke', subject: `${email} ${id}` }, ({ writing }, by) =>
    revokeApiToken(writing, { email, token: id }, by),
  )
  await withInstallation(open, act)
  printResult(options, { id }, `The API token ${id} of ${email} has ended`)
}

async function list(open: Open, email: string | undefined, options: OutputOptions): Promise<void> {
  const tokens = await withInstallation(open, ({ store }) => (email === undefined ? ofAll(store) : ofOne(store, email)))
  const rows = tokens.map(({ id, email: holder, issuedAt }) => [id, holder, issuedAt])
  printResult(options, { tokens }, table(['id', 'email', 'issued at'], rows))
}

async function ofOne(store: EventStore, wanted: string) {
  const { email, apiTokens } = await accountOf(store, wanted)
  return apiTokens.map((token) => row(email, token))
}

async function ofAll(store: EventStore) {
  const states = await foldStreams(store, 'account-', accountFold)
  return [...states.values()].flatMap((account) =>
    account.status === 'unknown' ? [] : account.apiTokens.map((token) => row(account.email, token)),
  )
}

const row = (email: string, { token, at }: ApiToken) => ({ id: token, email, issuedAt: new Date(at).toISOString() })
