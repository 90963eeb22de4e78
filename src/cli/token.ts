import { accountDecider, type ApiToken } from '../domain/account/account.ts'
import { Command, InvalidArgumentError } from 'commander'
import { issueApiToken, lastUseOf, revokeApiToken } from '../commands/accounts/api-tokens.ts'
import { accountOf, type Finding } from '../commands/accounts/accounts.ts'
import type { EventStore } from '../stores/ports/event-store.ts'
import { foldStreams } from '../events/load.ts'
import { administering, withInstallation, type Open } from './installed.ts'
import { notePassedOver, printResult, table, type OutputOptions } from './output.ts'

/** `token`: the API tokens of the secrets API. */
export function tokenCommand(open: Open): Command {
  const command = new Command('token').description('API tokens of the secrets API').addHelpText('after', ADD)
  command
    .command('add')
    .description('give an account an API token; it is told this once')
    .argument('<email>')
    .option('--expires-in <days>', 'the days that it lives, 1 to 3650; without it, until it is revoked', daysOf)
    .option('--json', 'print one line of JSON')
    .addHelpText('after', ADD)
    .action((email: string, options: Adding) => add(open, email, options))
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
  npx adamant token add jane@example.com --expires-in 90`

type Adding = OutputOptions & { readonly expiresIn?: number }

async function add(open: Open, email: string, options: Adding): Promise<void> {
  const life = options.expiresIn === undefined ? undefined : options.expiresIn * DAY
  const act = administering({ act: 'token add', subject: email }, ({ writing }, by) =>
    issueApiToken(writing, { email, life }, by),
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
  const tokens = await withInstallation(open, (installation) =>
    email === undefined ? ofAll(installation) : ofOne(installation, email),
  )
  const rows = tokens.map(({ id, email: holder, issuedAt, lastUsedAt, expiresAt }) => [
    id,
    holder,
    issuedAt,
    lastUsedAt ?? 'never',
    expiresAt ?? 'never',
  ])
  printResult(options, { tokens }, table(['id', 'email', 'issued at', 'last used (to the hour)', 'expires at'], rows))
}

async function ofOne({ store, people }: Finding, wanted: string): Promise<Listed[]> {
  const known = await accountOf({ store, people }, wanted)
  const { account } = known
  const email = await people.shownAs(account, known)
  return Promise.all(known.apiTokens.map((token) => listed(store, { account, email }, token)))
}

async function ofAll({ store, people }: Finding): Promise<Listed[]> {
  const states = await foldStreams(store, 'account-', accountDecider, notePassedOver)
  const found: Listed[] = []
  for (const [id, account] of states) {
    if (account.status === 'unknown') continue
    const holder = { account: Number(id), email: await people.shownAs(Number(id), account) }
    for (const token of account.apiTokens) found.push(await listed(store, holder, token))
  }
  return found
}

type Holder = { readonly account: number; readonly email: string }
type Listed = Awaited<ReturnType<typeof listed>>

async function listed(store: EventStore, { account, email }: Holder, { token, at, expiresAt }: ApiToken) {
  const lastUsedAt = await lastUseOf(store, { account, apiToken: token })
  return { id: token, email, issuedAt: isoOf(at), lastUsedAt: isoOf(lastUsedAt), expiresAt: isoOf(expiresAt) }
}

function isoOf(at: number): string
function isoOf(at: number | undefined): string | null
function isoOf(at: number | undefined): string | null {
  return at === undefined ? null : new Date(at).toISOString()
}

/** Milliseconds. */
const DAY = 86_400_000
const MOST_DAYS = 3650

function daysOf(text: string): number {
  const days = Number(text)
  if (/^\d{1,4}$/.test(text) && days >= 1 && days <= MOST_DAYS) return days
  throw new InvalidArgumentError(`Give a number of days, 1 to ${MOST_DAYS}.`)
}
