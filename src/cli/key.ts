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
    .addHelpText('after', EXAMPLE)
    .action((keyName: string, options: OutputOptions) => rotate(open, keyName, options))
  return command
}

const EXAMPLE = `
Example:
  adamant key rotate links`

async function rotate(open: OpenInstallation, keyName: string, options: OutputOptions): Promise<void> {
  const task = asAdminAction({ act: 'key rotate', subject: keyName }, ({ context, keys }, origin) =>
    rotateLinkKey(context, keys, origin),
  )
  await withInstallation(open, task)
  printResult(options, { rotated: keyName }, 'The link key was replaced: existing signed links no longer work')
}
