import { Command } from 'commander'
import { VERSION } from '../runtime/version.ts'
import { EXIT_FAILURE, reportFailure } from './failure.ts'
import type { OpenInstallation } from './with-installation.ts'
import { UnexpectedExitReporter } from './process-exit.ts'

/**
 * Runs one command line and sets the exit code: 0, 1 (failed) or 2 (usage, settings).
 * @param argv without the program's own name
 * @param open the composition root's
 */
export async function run(argv: readonly string[], open: OpenInstallation): Promise<void> {
  // Keys, logs and answers are for this user alone, whoever made the folder that they are written to.
  process.umask(0o077)
  const lastWords = new UnexpectedExitReporter()
  exitWhenStdoutCloses(lastWords)
  // What a command waits for may be in another process, and a service without HTTP listens nowhere: nothing else would
  // keep this process from ending before (exit code 13).
  const alive = setInterval(() => undefined, MAX_TIMER_MS)
  try {
    const program = await programFor({ open, exitReporter: lastWords }, argv[0])
    // Only the command's name: what stands behind it may be a password.
    program.hook('preAction', (_program, command) => lastWords.setActivity(`it carried out ${command.name()}`))
    await program.parseAsync(argv, { from: 'user' })
  } catch (error) {
    process.exitCode = reportFailure(error)
  }
  clearInterval(alive)
  lastWords.clearActivity()
}

/** Milliseconds: as long as a timer may be. */
const MAX_TIMER_MS = 2 ** 31 - 1

/**
 * The commands with their arguments and options, as `run` reads them.
 * @param name of the one that is wanted; every command without it, and where there is none of this name
 */
export async function programFor(given: CliContext, name?: string): Promise<Command> {
  const program = new Command('adamant')
    .description('An event-sourced inventory of diamonds')
    .version(VERSION)
    // An option behind a subcommand is that one's, also where the command above it has one of this name.
    .enablePositionalOptions()
    .addHelpText('after', EXAMPLE)
  for (const command of await commandsFor(given, name)) program.addCommand(command)
  for (const command of [program, ...subcommands(program)]) command.exitOverride().showHelpAfterError(HINT)
  return program
}

const subcommands = (command: Command): Command[] => command.commands.flatMap((sub) => [sub, ...subcommands(sub)])

const HINT = '(--help shows what is possible)'
const EXAMPLE = `
Examples:
  npx adamant demo
  npx adamant serve
  npx adamant user add jane@example.com --password-stdin < password.txt

Settings come from the environment; README.md lists them.`

/** `adamant events | head`: whoever reads stdout may stop reading. */
function exitWhenStdoutCloses(lastWords: UnexpectedExitReporter): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') lastWords.clearActivity()
    process.exit(error.code === 'EPIPE' ? 0 : EXIT_FAILURE)
  })
}

/** What commands are made with: the composition root's way to the stores, and what is said when the process ends. */
export type CliContext = { readonly open: OpenInstallation; readonly exitReporter: UnexpectedExitReporter }

/**
 * Every command by its name, in the order in which help lists them. Each is loaded when it is made: all of them together
 * are three times what a short one needs.
 */
const COMMANDS: Readonly<Record<string, (given: CliContext) => Promise<Command>>> = {
  serve: async ({ open, exitReporter }) => (await import('./serve.ts')).serveCommand(open, exitReporter),
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
  checkpoint: async ({ open }) => (await import('./evidence.ts')).checkpointCommand(open),
  prove: async ({ open }) => (await import('./evidence.ts')).proveCommand(open),
  check: async () => (await import('./evidence.ts')).checkCommand(),
  backup: async ({ open }) => (await import('./backup.ts')).backupCommand(open),
  restore: async ({ open }) => (await import('./restore.ts')).restoreCommand(open),
  move: async ({ open }) => (await import('./move.ts')).moveCommand(open),
  replay: async ({ open }) => (await import('./replay.ts')).replayCommand(open),
  verify: async ({ open }) => (await import('./verify.ts')).verifyCommand(open),
}

/** The command of this name, alone; all of them where there is none of it, as for help. */
export function commandsFor(given: CliContext, name: string | undefined): Promise<Command[]> {
  const named = name !== undefined && Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  return Promise.all((named === undefined ? Object.values(COMMANDS) : [named]).map((make) => make(given)))
}
