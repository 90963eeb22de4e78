import { WEBHOOK_STREAM_PREFIX, webhooksFold, type Webhook } from '../domain/webhook/webhook.ts'
import { Command } from 'commander'
import { requireAccount } from '../commands/accounts/accounts.ts'
import { createWebhook, deleteWebhook } from '../commands/webhooks/webhooks.ts'
import { RequestError } from '../domain/request-error.ts'
import { foldStreams } from '../events/load-stream.ts'
import { toWebhookBody } from '../representations/webhook.ts'
import type { Installation } from '../wiring/installation.ts'
import { openStandaloneWebhookCommands } from '../wiring/webhooks.ts'
import { asAdminAction, createOperatorOrigin, withInstallation, type OpenInstallation } from './with-installation.ts'
import { EXIT_FAILURE } from './failure.ts'
import { noteSkippedEvent, printResult, table, type OutputOptions } from './output.ts'
import { ACCOUNT } from './user.ts'

/** `webhook`: webhooks of accounts. */
export function webhookCommand(open: OpenInstallation): Command {
  const command = new Command('webhook').description('Manage webhooks').addHelpText('after', example('list'))
  const subcommand = (name: string, description: string, exampleArguments: string) =>
    command.command(name).description(description).addHelpText('after', example(exampleArguments))
  subcommand('add', 'Create a webhook and print its secret, which is shown only once', ADD_EXAMPLE)
    .argument('<email>', ACCOUNT)
    .argument('<url>', "URL that receives the account's changes")
    .option('--description <text>', 'Description for the owner')
    .action((email: string, url: string, options: WebhookAddOptions) => add(open, email, url, options))
  subcommand('list', 'List the webhooks of one account or of all accounts', 'list jane@example.com')
    .argument('[email]', ACCOUNT)
    .action((email: string | undefined, options: OutputOptions) => list(open, email, options))
  subcommand('test', 'Send a test message', 'test 3')
    .argument('<id>', ID)
    .action((id: string, options: OutputOptions) => test(open, id, options))
  subcommand('remove', 'Delete a webhook', 'remove 3')
    .argument('<id>', ID)
    .action((id: string, options: OutputOptions) => remove(open, id, options))
  return command
}

const ID = 'Webhook id, from `webhook list`'
const ADD_EXAMPLE = 'add jane@example.com https://shop.example.com/stock'
const example = (line: string) => `\nExample:\n  adamant webhook ${line}`

type WebhookAddOptions = OutputOptions & { readonly description?: string }

async function add(open: OpenInstallation, email: string, url: string, options: WebhookAddOptions): Promise<void> {
  const { description = null } = options
  const task = asAdminAction({ act: 'webhook add', subject: email }, async (installation, origin) => {
    const { account } = await requireAccount(installation, email)
    const { context } = await openStandaloneWebhookCommands(installation, origin)
    return createWebhook(context, account, { url, description }, origin)
  })
  const { webhook, secret } = await withInstallation(open, task)
  const text = `webhook ${webhook.id}  ${webhook.url}\nsecret     ${secret}  (shown only once)`
  printResult(options, { ...toWebhookBody(webhook), secret }, text)
}

type OwnedWebhook = { readonly owner: number; readonly webhook: Webhook }

async function loadWebhooks({ store }: Installation): Promise<OwnedWebhook[]> {
  const states = await foldStreams(store, WEBHOOK_STREAM_PREFIX, webhooksFold, noteSkippedEvent)
  return [...states].flatMap(([owner, webhooks]) => webhooks.map((webhook) => ({ owner: Number(owner), webhook })))
}

/** @throws RequestError `missing` */
async function findWebhook(installation: Installation, id: string): Promise<OwnedWebhook> {
  const found = (await loadWebhooks(installation)).find(({ webhook }) => String(webhook.id) === id)
  if (found === undefined) throw new RequestError('missing', `There is no webhook ${id.slice(0, 40)}`)
  return found
}

async function list(open: OpenInstallation, email: string | undefined, options: OutputOptions): Promise<void> {
  const ownedWebhooks = await withInstallation(open, async (installation) => {
    const webhooks = await loadWebhooks(installation)
    if (email === undefined) return webhooks
    const { account } = await requireAccount(installation, email)
    return webhooks.filter(({ owner }) => owner === account)
  })
  const webhooks = ownedWebhooks.map(({ owner, webhook }) => ({ account: owner, ...toWebhookBody(webhook) }))
  const rows = webhooks.map(({ id, account, state, url, error }) => [`${id}`, `${account}`, state, url, error ?? ''])
  printResult(options, { webhooks }, table(['id', 'account', 'state', 'url', 'error'], rows))
}

async function test(open: OpenInstallation, id: string, options: OutputOptions): Promise<void> {
  const { status, ms, error } = await withInstallation(open, async (installation) => {
    const { owner, webhook } = await findWebhook(installation, id)
    const { sendTestMessage } = await openStandaloneWebhookCommands(installation, createOperatorOrigin())
    return sendTestMessage(webhook, owner)
  })
  printResult(options, { id: Number(id), status, ms, error }, error ?? `Response ${status} after ${ms} ms`)
  if (error !== null) process.exitCode = EXIT_FAILURE
}

async function remove(open: OpenInstallation, id: string, options: OutputOptions): Promise<void> {
  const task = asAdminAction({ act: 'webhook remove', subject: id }, async (installation, origin) => {
    const { owner, webhook } = await findWebhook(installation, id)
    await deleteWebhook(installation.context, { owner, id: webhook.id }, origin)
    return webhook
  })
  const webhook = await withInstallation(open, task)
  printResult(options, { id: webhook.id }, `Webhook ${webhook.id} is deleted`)
}
