import * as assert from 'uvu/assert'
import { CommandLine } from '../cli/command-line.ts'

const EMAIL = 'jane@example.com'
const PASSWORD = 'correct horse'

/** A new service, set up as in the README, with credentials for a client. */
export type NewInstallation = {
  readonly folder: string
  /** Variables with the names used in the documents. */
  readonly env: Readonly<Record<string, string>>
  remove(): Promise<void>
}

export async function newInstallation(): Promise<NewInstallation> {
  const commands = new CommandLine()
  const server = commands.start(['serve', '--json'])
  const { url } = JSON.parse(await server.line()) as { url: string }
  const [user, client, token] = await commands.runInTurn([
    ['user', 'add', EMAIL, '--password', PASSWORD],
    ['client', 'add', 'Stock', '--json'],
    ['token', 'add', EMAIL, '--json'],
  ])
  assert.is(user?.code, 0, user?.err)
  const { client_id = '', client_secret = '' } = JSON.parse(client?.out ?? '') as Record<string, string>
  const { token: apiToken = '' } = JSON.parse(token?.out ?? '') as Record<string, string>
  const credentials = { CLIENT_ID: client_id, CLIENT_SECRET: client_secret, API_TOKEN: apiToken }
  return {
    folder: commands.folder,
    env: { API: url, EMAIL, PASSWORD, ...credentials },
    remove: () => commands.remove(),
  }
}
