import { accountFold, type ApiToken } from '../domain/account/account.ts'
import { Command, InvalidArgumentError } from 'commander'
import { issueApiToken, lastUseOf, revokeApiToken } from '../commands/accounts/api-tokens.ts'
import { requireAccount, type AccountLookupContext } from '../commands/accounts/accounts.ts'
import type { EventStore } from '../stores/ports/event-store.ts'
import { foldStreams } from '../events/load-stream.ts'
import { asAdminAction, withInstallation, type OpenInstallation } from './with-installation.ts'
import { note, noteSkippedEvent, printResult, table, type OutputOptions } from './output.ts'
import { ACCOUNT } from './user.ts'

/** `token`: API tokens of the secrets API. */
export function tokenCommand(open: OpenInstallation): Command {
  const command = new Command('token')
    .description('Manage API tokens of the secrets API')
    .addHelpText('after', ADD_EXAMPLE)
  command
    .command('add')
    .description('Issue an API token and print it, which is shown only once')
    .argument('<email>', ACCOUNT)
    .option('--expires-in <days>', 'Lifetime in days, 1 to 3650 (default: until revoked)', parseDays)
    .addHelpText('after', ADD_EXAMPLE)
    .action((email: string, options: TokenAddOptions) => add(open, email, options))
  command
    .command('list')
    .description('List the API tokens of one account or of all accounts')
    .argument('[email]', ACCOUNT)
    .addHelpText('after', '\nExample:\n  adamant token list jane@example.com')
    .action((email: string | undefined, options: OutputOptions) => list(open, email, options))
  command
    .command('revoke')
    .description('Revoke an API token')
    .argument('<email>', ACCOUNT)
    .argument('<id>', 'Token id, from `token list`')
    .addHelpText('after', '\nExample:\n  adamant token revoke jane@example.com 4c1d0a6f93be')
    .action((email: string, id: string, options: OutputOptions) => revoke(open, email, id, options))
  return command
}

const ADD_EXAMPLE = `
Example:
  adamant token add jane@example.com --expires-in 90`

type TokenAddOptions = OutputOptions & { readonly expiresIn?: number }

async function add(open: OpenInstallation, email: string, options: TokenAddOptions): Promise<void> {
  const lifetimeMs = options.expiresIn === undefined ? undefined : options.expiresIn * DAY_MS
  const task = asAdminAction({ act: 'token add', subject: email }, ({ context }, origin) =>
    issueApiToken(context, { email, lifetimeMs }, origin),
  )
  const { id, token } = await withInstallation(open, task)
  printResult(options, { token, id }, token)
  if (options.json !== true) note(`Its id is ${id}; the token is shown only once`)
}

async function revoke(open: OpenInstallation, email: string, id: string, options: OutputOptions): Promise<void> {
  const task = asAdminAction({ act: 'token revoke', subject: `${email} ${id}` }, ({ context }, origin) =>
    revokeApiToken(context, { email, token: id }, origin),
  )
  await withInstallation(open, task)
  printResult(options, { id }, `The API token ${id} of ${email} is revoked`)
}

async function list(open: OpenInstallation, email: string | undefined, options: OutputOptions): Promise<void> {
  const tokens = await withInstallation(open, (installation) =>
    email === undefined ? listAllTokens(installation) : listTokensOfAccount(installation, email),
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

async function listTokensOfAccount(
  { store, people }: AccountLookupContext,
  requestedEmail: string,
): Promise<TokenListing[]> {
  const owner = await requireAccount({ store, people }, requestedEmail)
  const { account } = owner
  const email = await people.displayNameOf(account, owner)
  return Promise.all(owner.apiTokens.map((token) => toTokenListing(store, { account, email }, token)))
}

async function listAllTokens({ store, people }: AccountLookupContext): Promise<TokenListing[]> {
  const states = await foldStreams(store, 'account-', accountFold, noteSkippedEvent)
  const listings: TokenListing[] = []
  for (const [id, account] of states) {
    if (account.status === 'unknown') continue
    const holder = { account: Number(id), email: await people.displayNameOf(Number(id), account) }
    for (const token of account.apiTokens) listings.push(await toTokenListing(store, holder, token))
  }
  return listings
}

type TokenHolder = { readonly account: number; readonly email: string }
type TokenListing = Awaited<ReturnType<typeof toTokenListing>>

async function toTokenListing(store: EventStore, { account, email }: TokenHolder, { token, at, expiresAt }: ApiToken) {
  const lastUsedAt = await lastUseOf(store, { account, apiToken: token })
  return { id: token, email, issuedAt: isoOf(at), lastUsedAt: isoOf(lastUsedAt), expiresAt: isoOf(expiresAt) }
}

function isoOf(at: number): string
function isoOf(at: number | undefined): string | null
function isoOf(at: number | undefined): string | null {
  return at === undefined ? null : new Date(at).toISOString()
}

const DAY_MS = 86_400_000
const MAX_DAYS = 3650

function parseDays(text: string): number {
  const days = Number(text)
  if (/^\d{1,4}$/.test(text) && days >= 1 && days <= MAX_DAYS) return days
  throw new InvalidArgumentError(`It must be an integer from 1 to ${MAX_DAYS}.`)
}
