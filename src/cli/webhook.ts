import { WEBHOOK_STREAMS, webhooksDecider, type Webhook } from '../domain/webhook/webhook.ts'
import { Command } from 'commander'
import { accountOf } from '../commands/accounts/accounts.ts'
import { createWebhook, deleteWebhook } from '../commands/webhooks/webhooks.ts'
import { Refusal } from '../domain/decider.ts'
import { foldStreams } from '../events/load.ts'
import type { Installation } from '../wiring/installation.ts'
import { openHookingBeside } from '../wiring/webhooks.ts'
import { administering, operator, withInstallation, type Open } from './installed.ts'
import { FAILED } from './failure.ts'
import { notePassedOver, printResult, table, type OutputOptions } from './output.ts'

/** `webhook`: the addresses that accounts' changes are pushed to. */
export function webhookCommand(open: Open): Command {
  const command = new Command('webhook').description('webhooks of accounts').addHelpText('after', example('list'))
  const subcommand = (name: string, description: string, shown: string) =>
    command
      .command(name)
      .description(description)
      .option('--json', 'print one line of JSON')
      .addHelpText('after', example(shown))
  subcommand('add', "push an account's changes to an address; its secret is told this once", ADDING)
    .argument('<email>')
    .argument('<url>')
    .option('--description <text>', 'for people')
    .action((email: string, url: string, options: Adding) => add(open, email, url, options))
  subcommand('list', 'list the webhooks, of one account or of all', 'list jane@example.com')
    .argument('[email]')
    .action((email: string | undefined, options: OutputOptions) => list(open, email, options))
  subcommand('test', 'send a test message now', 'test 3')
    .argument('<id>')
    .action((id: string, options: OutputOptions) => test(open, id, options))
  subcommand('remove', 'end a webhook: nothing is sent to it any more', 'remove 3')
    .argument('<id>')
    .action((id: string, options: OutputOptions) => remove(open, id, options))
  return command
}

const ADDING = 'add jane@example.com https://shop.example.com/stock'
const example = (line: string) => `\nExample:\n  npx adamant webhook ${line}`

type Adding = OutputOptions & { readonly description?: string }

async function add(open: Open, email: string, url: string, options: Adding): Promise<void> {
  const { description = null } = options
  const act = administering({ act: 'webhook add', subject: email }, async (installation, by) => {
    const { account } = await accountOf(installation, email)
    const { hooking } = await openHookingBeside(installation, by)
    return createWebhook(hooking, account, { url, description }, by)
  })
  const { webhook, secret } = await withInstallation(open, act)
  const text = `webhook ${webhook.id}  ${webhook.url}\nsecret     ${secret}  (told this once)`
  printResult(options, { ...shown(webhook), secret }, text)
}

type Found = { readonly owner: number; readonly webhook: Webhook }

/** Every account's, as the log has them. */
async function all({ store }: Installation): Promise<Found[]> {
  const states = await foldStreams(store, WEBHOOK_STREAMS, webhooksDecider, notePassedOver)
  return [...states].flatMap(([owner, webhooks]) => webhooks.map((webhook) => ({ owner: Number(owner), webhook })))
}

/** @throws Refusal missing */
async function one(installation: Installation, id: string): Promise<Found> {
  const found = (await all(installation)).find(({ webhook }) => String(webhook.id) === id)
  if (found === undefined) throw new Refusal('missing', `There is no webhook ${id.slice(0, 40)}`)
  return found
}

async function list(open: Open, email: string | undefined, options: OutputOptions): Promise<void> {
  const found = await withInstallation(open, async (installation) => {
    const webhooks = await all(installation)
    if (email === undefined) return webhooks
    const { account } = await accountOf(installation, email)
    return webhooks.filter(({ owner }) => owner === account)
  })
  const webhooks = found.map(({ owner, webhook }) => ({ account: owner, ...shown(webhook) }))
  const rows = webhooks.map(({ id, account, state, url, error }) => [`${id}`, `${account}`, state, url, error ?? ''])
  printResult(options, { webhooks }, table(['id', 'account', 'state', 'url', 'error'], rows))
}

async function test(open: Open, id: string, options: OutputOptions): Promise<void> {
  const { status, ms, error } = await withInstallation(open, async (installation) => {
    const { owner, webhook } = await one(installation, id)
    const { tryOut } = await openHookingBeside(installation, operator())
    return tryOut(webhook, owner)
  })
  printResult(options, { id: Number(id), status, ms, error }, error ?? `Answered ${status} in ${ms} ms`)
  if (error !== null) process.exitCode = FAILED
}

async function remove(open: Open, id: string, options: OutputOptions): Promise<void> {
  const act = administering({ act: 'webhook remove', subject: id }, async (installation, by) => {
    const { owner, webhook } = await one(installation, id)
    await deleteWebhook(installation.writing, { owner, id: webhook.id }, by)
    return webhook
  })
  const webhook = await withInstallation(open, act)
  printResult(options, { id: webhook.id }, `webhook ${webhook.id} is removed`)
}

const shown = ({ id, url, description, state, created, error }: Webhook) => ({
  id,
  url,
  description,
  state,
  created: `${new Date(created).toISOString().slice(0, 19)}+00:00`,
  error,
})
