import { Argument, Command } from 'commander'
import { rotateLinkKey } from '../commands/installation/link-key.ts'
import { asAdminAction, withInstallation, type OpenInstallation } from './with-installation.ts'
import { printResult, type OutputOptions } from './output.ts'

/** `key`: the keys that the installation makes itself. */
export function keyCommand(open: OpenInstallation): Command {
  const command = new Command('key')
    .description('keys that the installation makes itself')
    .addHelpText('after', EXAMPLE)
  command
    .command('rotate')
    .description('end all signed links, of report pages and of files, at once; owners find new ones in their answers')
    .addArgument(new Argument('<what>').choices(['links']))
    .option('--json', 'print one line of JSON')
    .addHelpText('after', EXAMPLE)
    .action((what: string, options: OutputOptions) => rotate(open, what, options))
  return command
}

const EXAMPLE = `
Example:
  npx adamant key rotate links`

async function rotate(open: OpenInstallation, what: string, options: OutputOptions): Promise<void> {
  const act = asAdminAction({ act: 'key rotate', subject: what }, ({ writing, keys }, by) =>
    rotateLinkKey(writing, keys, by),
  )
  await withInstallation(open, act)
  printResult(options, { rotated: what }, 'Links have a new key: every signed link from before has ended')
}
