import { Command } from 'commander'
import { VERSION } from '../runtime/version.ts'
import { auditCommand } from './audit.ts'
import { backupCommand } from './backup.ts'
import type { Backups } from './backup/backups.ts'
import { checkCommand } from './check.ts'
import { checkpointCommand } from './checkpoint.ts'
import { deadLettersCommand } from './dead-letters.ts'
import { eventsCommand } from './events.ts'
import { exportCommand } from './export.ts'
import { FAILED, reportFailure } from './failure.ts'
import { clientCommand } from './client.ts'
import { demoCommand } from './demo.ts'
import { keyCommand } from './key.ts'
import { importCommand } from './import.ts'
import { forgetCommand } from './forget.ts'
import type { Open } from './installed.ts'
import { moveCommand } from './move.ts'
import { LastWords } from './last-words.ts'
import { proveCommand } from './prove.ts'
import { replayCommand } from './replay.ts'
import { restoreCommand } from './restore.ts'
import { rebuildCommand } from './rebuild.ts'
import { rescoreCommand } from './rescore.ts'
import { serveCommand } from './serve.ts'
import { statusCommand } from './status.ts'
import { tokenCommand } from './token.ts'
import { userCommand } from './user.ts'
import { verifyCommand } from './verify.ts'
import { webhookCommand } from './webhook.ts'

/**
 * Runs one command line and sets the exit code: 0, 1 (failed) or 2 (usage, settings).
 * @param argv without the program's own name
 * @param open the composition root's
 * @param backups likewise
 */
export async function run(argv: readonly string[], open: Open, backups: Backups): Promise<void> {
  // Keys, logs and answers are for this user alone, whoever made the folder that they are written to.
  process.umask(0o077)
  const lastWords = new LastWords()
  endWithReader(lastWords)
  // What a command waits for may be in another process, and a service without HTTP listens nowhere: nothing else would
  // keep this process from ending before (exit code 13).
  const alive = setInterval(() => undefined, LONGEST_TIMER)
  try {
    const program = programFor(open, backups, lastWords)
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

/** Every command with its arguments and options, as `run` reads them. */
export function programFor(open: Open, backups: Backups, lastWords: LastWords): Command {
  const program = new Command('adamant')
    .description('An event-sourced inventory of diamonds')
    .version(VERSION)
    // An option behind a subcommand is that one's, also where the command above it has one of this name.
    .enablePositionalOptions()
    .addHelpText('after', EXAMPLE)
  for (const command of commandsFor(open, backups, lastWords)) program.addCommand(command)
  for (const command of [program, ...subcommands(program)]) command.exitOverride().showHelpAfterError(HINT)
  return program
}

const commandsFor = (open: Open, backups: Backups, lastWords: LastWords): Command[] => [
  serveCommand(open, lastWords),
  userCommand(open),
  clientCommand(open),
  tokenCommand(open),
  webhookCommand(open),
  forgetCommand(open),
  keyCommand(open),
  demoCommand(),
  importCommand(open),
  exportCommand(open),
  rebuildCommand(open),
  rescoreCommand(open),
  statusCommand(open),
  deadLettersCommand(open),
  eventsCommand(open),
  auditCommand(open),
  checkpointCommand(open),
  proveCommand(open),
  checkCommand(),
  backupCommand(open, backups),
  restoreCommand(open, backups),
  moveCommand(open),
  replayCommand(open),
  verifyCommand(open),
]

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
