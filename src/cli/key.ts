import { Argument, Command } from 'commander'
import { rotateLinkKey } from '../commands/installation/link-key.ts'
import { asAdminAction, withInstallation, type OpenInstallation } from './with-installation.ts'
import { printResult, type OutputOptions } from './output.ts'

/** `key`: keys that the installation generates. */
export function keyCommand(open: OpenInstallation): Command {
  const command = new Command('key')
    .description('Manage the keys that the installation generates')
    .addHelpText('after', EXAMPLE)
  command
    .command('rotate')
    .description('Replace the key of signed links: all existing links to report pages and files stop working')
    .addArgument(new Argument('<what>', 'Key to replace').choices(['links']))
    .option('--json', 'Print one line of JSON')
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
  printResult(options, { rotated: what }, 'The link key was replaced: existing signed links no longer work')
}
