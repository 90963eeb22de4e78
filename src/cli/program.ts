import { Command } from 'commander'
import { VERSION } from '../runtime/version.ts'
import { EXIT_FAILURE, reportFailure } from './failure.ts'
import { readSettings } from '../wiring/settings.ts'
import { loadSettingsFiles } from './settings-file.ts'
import { workAsOwnerOf } from './os-user.ts'
import { note } from './output.ts'
import type { OpenInstallation } from './with-installation.ts'
import { UnexpectedExitReporter } from './process-exit.ts'

/**
 * Runs one command line and sets the exit code: 0 (success), 1 (failure) or 2 (invalid usage or settings).
 * @param argv arguments without the program's name
 */
export async function run(argv: readonly string[], open: OpenInstallation): Promise<void> {
  // Keys, logs and results are readable by this user only, whatever the permissions of their folder.
  process.umask(0o077)
  // By default, Node opens a debugger, which lets any user of this machine run code in this process.
  process.on('SIGUSR1', () => note('SIGUSR1 is ignored'))
  const exitReporter = new UnexpectedExitReporter()
  exitWhenStdoutCloses(exitReporter)
  // Keeps the process alive while a command waits for another process, and a service without HTTP, which has no listening
  // socket. Without it the process would exit early, with code 13.
  const keepAliveTimer = setInterval(() => undefined, MAX_TIMER_MS)
  try {
    const program = await programFor({ open, exitReporter }, commandNameIn(argv))
    program.hook('preAction', (_program, command) => {
      // Only the command's name: its arguments may contain a password.
      exitReporter.setActivity(`running ${command.name()}`)
      const { settings } = program.opts<{ settings: string[] }>()
      loadSettingsFiles(settings, process.env)
      // The output of the others is for a person or a program, who asked for a result.
      if (command.name() !== 'serve') process.env['LOG_LEVEL'] ||= 'warn'
      if (settings.length > 0) workAsOwnerOf(readSettings(process.env).DATA_DIR)
    })
    await program.parseAsync(argv, { from: 'user' })
  } catch (error) {
    process.exitCode = reportFailure(error)
  }
  clearInterval(keepAliveTimer)
  exitReporter.clearActivity()
}

/** The longest delay of a timer. */
const MAX_TIMER_MS = 2 ** 31 - 1

/**
 * The command line parser, with the commands, their arguments and options.
 * @param name loads only this command; all commands are loaded without it, or if there is none of this name
 */
export async function programFor(context: CliContext, name?: string): Promise<Command> {
  const program = new Command('adamant')
    .description('An event-sourced inventory of diamonds')
    .version(VERSION, '-V, --version', 'Print the version')
    .option(SETTINGS_OPTION, SETTINGS_HELP, (file: string, files: string[]) => [...files, file], [])
    // An option after a subcommand belongs to it, even if its parent has an option of the same name.
    .enablePositionalOptions()
    .addHelpText('after', EXAMPLE)
  for (const command of await commandsFor(context, name)) program.addCommand(command)
  for (const command of [program, ...subcommands(program)]) {
    command.exitOverride().showHelpAfterError(HINT).helpOption('-h, --help', 'Show help for the command')
    if (hasHelpCommand(command)) command.helpCommand('help [command]', 'Show help for a command')
    if (needsJsonOption(command)) command.option('--json', 'Print one line of JSON')
  }
  return program
}

const SETTINGS_OPTION = '--settings <file>'
const SETTINGS_HELP =
  "Read settings from a file as systemd does (may be missing if preceded by '-'); root then works as the owner of DATA_DIR"

/** The first word that is neither an option of the program nor its value. */
const commandNameIn = (argv: readonly string[]): string | undefined =>
  argv.find((word, index) => !word.startsWith('-') && argv[index - 1] !== SETTINGS_OPTION.split(' ')[0])

const hasHelpCommand = (command: Command): boolean =>
  command
    .createHelp()
    .visibleCommands(command)
    .some((sub) => sub.name() === 'help')

/** Every command that does something prints JSON on request; some describe it in their own words. */
const needsJsonOption = ({ commands, options }: Command): boolean =>
  commands.length === 0 && !options.some(({ long }) => long === '--json')

const subcommands = (command: Command): Command[] => command.commands.flatMap((sub) => [sub, ...subcommands(sub)])

const HINT = '(use --help to list arguments and options)'
const EXAMPLE = `
Examples:
  adamant demo
  adamant serve
  adamant user add jane@example.com --password-stdin < password.txt

Settings are read from environment variables, then from the files of --settings; README.md lists them.`

/** The reader of stdout may close it early, as in `adamant events | head`: that is not a failure. */
function exitWhenStdoutCloses(exitReporter: UnexpectedExitReporter): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') exitReporter.clearActivity()
    process.exit(error.code === 'EPIPE' ? 0 : EXIT_FAILURE)
  })
}

/** Dependencies of the commands. */
export type CliContext = { readonly open: OpenInstallation; readonly exitReporter: UnexpectedExitReporter }

/**
 * Every command by name, in the order of the help. Each is imported on demand: loading all of them takes three times as
 * long as a short command.
 */
const COMMANDS: Readonly<Record<string, (context: CliContext) => Promise<Command>>> = {
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
  compare: async () => (await import('./evidence.ts')).compareCommand(),
  backup: async ({ open }) => (await import('./backup.ts')).backupCommand(open),
  restore: async ({ open }) => (await import('./restore.ts')).restoreCommand(open),
  move: async ({ open }) => (await import('./move.ts')).moveCommand(open),
  replay: async ({ open }) => (await import('./replay.ts')).replayCommand(open),
  verify: async ({ open }) => (await import('./verify.ts')).verifyCommand(open),
}

/** The command of this name, or all commands if there is none, as for help. */
export function commandsFor(context: CliContext, name: string | undefined): Promise<Command[]> {
  const loadNamed = name !== undefined && Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  return Promise.all((loadNamed === undefined ? Object.values(COMMANDS) : [loadNamed]).map((load) => load(context)))
}
