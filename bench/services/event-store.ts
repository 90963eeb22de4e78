import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { stopProcess } from './service.ts'

export type EventStoreServer = { readonly url: string; stop(): Promise<void> }

const PEER = fileURLToPath(new URL('../../test/eventstoredb/peer/main.ts', import.meta.url))

/** The server at EVENTSTOREDB_URL, or else the tests' stand-in server in a separate process. */
export async function startEventStore(): Promise<EventStoreServer> {
  const given = process.env['EVENTSTOREDB_URL']
  if (given) return { url: given, stop: async () => {} }
  const child = spawn(process.execPath, ['--import', 'tsx', PEER], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [url] = (await once(createInterface(child.stdout), 'line')) as [string]
  return { url, stop: () => stopProcess(child) }
}
