import { clientFold } from '../domain/client/client.ts'
import { Command } from 'commander'
import {
  disableClient,
  enableClient,
  registerClient,
  rotateClientSecret,
  type ClientCredentials,
} from '../commands/clients/clients.ts'
import type { Origin } from '../events/event-metadata.ts'
import { IdAllocator } from '../commands/installation/id-allocator.ts'
import type { Installation } from '../wiring/installation.ts'
import { foldStreams } from '../events/load-stream.ts'
import { asAdminAction, withInstallation, withNewInstallation, type OpenInstallation } from './with-installation.ts'
import { noteSkippedEvent, printResult, table, type OutputOptions } from './output.ts'

/** `client`: OAuth clients. */
export function clientCommand(open: OpenInstallation): Command {
  const command = new Command('client')
    .description('Manage OAuth clients')
    .addHelpText('after', example('add "Price list"'))
  const subcommand = (name: string, description: string, input?: string) => {
    const sub = command.command(name).description(description)
    return input === undefined ? sub : sub.argument(input, ARGUMENTS[input])
  }
  subcommand('add', 'Register a client and print its secret, which is shown only once', '<name>')
    .addHelpText('after', example('add "Price list"'))
    .action(async (name: string, options: OutputOptions) =>
      printCredentials(
        options,
        await withNewInstallation(open, asAdminAction({ act: 'client add', subject: name }, registerClientNamed(name))),
      ),
    )
  subcommand('list', 'List the clients')
    .addHelpText('after', example('list'))
    .action((options: OutputOptions) => list(open, options))
  subcommand('rotate', "Replace a client's secret; the old secret is rejected, issued tokens stay valid", '<client_id>')
    .addHelpText('after', example('rotate 1_4bk8'))
    .action(async (client: string, options: OutputOptions) => {
      const task = asAdminAction({ act: 'client rotate', subject: client }, ({ context }, origin) =>
        rotateClientSecret(context, client, origin),
      )
      printCredentials(options, await withInstallation(open, task))
    })
  subcommand('disable', 'Disable a client and revoke its tokens', '<client_id>')
    .addHelpText('after', example('disable 1_4bk8'))
    .action((client: string, options: OutputOptions) =>
      change(open, options, { client, act: 'disable' }, disableClient),
    )
  subcommand('enable', 'Enable a disabled client', '<client_id>')
    .addHelpText('after', example('enable 1_4bk8'))
    .action((client: string, options: OutputOptions) => change(open, options, { client, act: 'enable' }, enableClient))
  return command
}

const ARGUMENTS: Readonly<Record<string, string>> = {
  '<name>': 'Name of the client',
  '<client_id>': 'Client id, from `client list`',
}

const example = (line: string) => `\nExample:\n  adamant client ${line}`

const registerClientNamed =
  (name: string) =>
  ({ context }: Installation, origin: Origin): Promise<ClientCredentials> => {
    const clientIds = new IdAllocator({ ...context, kind: 'client', size: 1, origin })
    return registerClient({ ...context, clientIds }, name, origin)
  }

function printCredentials(options: OutputOptions, { client, secret }: ClientCredentials): void {
  const text = `client_id      ${client}\nclient_secret  ${secret}  (shown only once)`
  printResult(options, { client_id: client, client_secret: secret }, text)
}

async function change(
  open: OpenInstallation,
  options: OutputOptions,
  { client, act }: { readonly client: string; readonly act: 'disable' | 'enable' },
  run: typeof disableClient,
): Promise<void> {
  const adminAction = { act: `client ${act}`, subject: client }
  await withInstallation(
    open,
    asAdminAction(adminAction, ({ context }, origin) => run(context, client, origin)),
  )
  printResult(options, { client_id: client }, `${client} is ${act}d`)
}

async function list(open: OpenInstallation, options: OutputOptions): Promise<void> {
  const states = await withInstallation(open, ({ store }) =>
    foldStreams(store, 'client-', clientFold, noteSkippedEvent),
  )
  const clients = [...states].flatMap(([client_id, state]) =>
    state.status === 'unknown' ? [] : [{ client_id, name: state.name, status: state.status }],
  )
  const rows = clients.map(({ client_id, name, status }) => [client_id, name, status])
  printResult(options, { clients }, table(['client_id', 'name', 'status'], rows))
}
