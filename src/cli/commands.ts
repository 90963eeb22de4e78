import type { Command } from 'commander'
import type { Open } from './installed.ts'
import type { LastWords } from './last-words.ts'

/** What commands are made with: the composition root's way to the stores, and what is said when the process ends. */
export type Given = { readonly open: Open; readonly lastWords: LastWords }

/**
 * Every command by its name, in the order in which help lists them. Each is loaded when it is made: all of them together
 * are three times what a short one needs.
 */
const COMMANDS: Readonly<Record<string, (given: Given) => Promise<Command>>> = {
  serve: async ({ open, lastWords }) => (await import('./serve.ts')).serveCommand(open, lastWords),
  user: async ({ open }) => (await import('./user.ts')).userCommand(open),
  client: async ({ open }) => (await import('./client.ts')).clientCommand(open),
  token: async ({ open }) => (await import('./token.ts')).tokenCommand(open),
  webhook: async ({ open }) => (await import('./webhook.ts')).webhookCommand(open),
  forget: async ({ open }) => (await import('./forget.ts')).forgetCommand(open),
  key: async ({ open }) => (await import('./key.ts')).keyCommand(open),
  demo: async () => (await import('./demo.ts')).demoCommand(),
  import: async ({ open }) => (await import('./import.ts')).importCommand(open),
  export: async ({ open }) => (await import('./export.ts')).exportCommand(open),
  rebuild: async ({ open }) => (await import('./rebuild.ts')).rebuildCommand(open),
  rescore: async ({ open }) => (await import('./rescore.ts')).rescoreCommand(open),
  status: async ({ open }) => (await import('./status.ts')).statusCommand(open),
  'dead-letters': async ({ open }) => (await import('./dead-letters.ts')).deadLettersCommand(open),
  events: async ({ open }) => (await import('./events.ts')).eventsCommand(open),
  audit: async ({ open }) => (await import('./audit.ts')).auditCommand(open),
  checkpoint: async ({ open }) => (await import('./checkpoint.ts')).checkpointCommand(open),
  prove: async ({ open }) => (await import('./prove.ts')).proveCommand(open),
  check: async () => (await import('./check.ts')).checkCommand(),
  backup: async ({ open }) => (await import('./backup.ts')).backupCommand(open),
  restore: async ({ open }) => (await import('./restore.ts')).restoreCommand(open),
  move: async ({ open }) => (await import('./move.ts')).moveCommand(open),
  replay: async ({ open }) => (await import('./replay.ts')).replayCommand(open),
  verify: async ({ open }) => (await import('./verify.ts')).verifyCommand(open),
}

/** The command of this name, alone; all of them where there is none of it, as for help. */
export function commandsFor(given: Given, name: string | undefined): Promise<Command[]> {
  const named = name !== undefined && Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  return Promise.all((named === undefined ? Object.values(COMMANDS) : [named]).map((make) => make(given)))
}
