import { Command } from 'commander'
import { VERSION } from '../runtime/version.ts'
import { commandsFor, type Given } from './commands.ts'
import { FAILED, reportFailure } from './failure.ts'
import type { Open } from './installed.ts'
import { LastWords } from './last-words.ts'

/**
 * Runs one command line and sets the exit code: 0, 1 (failed) or 2 (usage, settings).
 * @param argv without the program's own name
 * @param open the composition root's
 */
export async function run(argv: readonly string[], open: Open): Promise<void> {
  // Keys, logs and answers are for this user alone, whoever made the folder that they are written to.
  process.umask(0o077)
  const lastWords = new LastWords()
  endWithReader(lastWords)
  // What a command waits for may be in another process, and a service without HTTP listens nowhere: nothing else would
  // keep this process from ending before (exit code 13).
  const alive = setInterval(() => undefined, LONGEST_TIMER)
  try {
    const program = await programFor({ open, lastWords }, argv[0])
    // Only the command's name: what stands behind it may be a password.
    program.hook('preAction', (_program, command) => lastWords.now(`it carried out ${command.name()}`))
    await program.parseAsync(argv, { from: 'user' })
  } catch (error) {
    process.exitCode = reportFailure(error)
  }
  clearInterval(alive)
  lastWords.over()
}

/** Milliseconds: as long as a timer may be. */
const LONGEST_TIMER = 2 ** 31 - 1

/**
 * The commands with their arguments and options, as `run` reads them.
 * @param name of the one that is wanted; every command without it, and where there is none of this name
 */
export async function programFor(given: Given, name?: string): Promise<Command> {
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
function endWithReader(lastWords: LastWords): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') lastWords.over()
    process.exit(error.code === 'EPIPE' ? 0 : FAILED)
  })
}
