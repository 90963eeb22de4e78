import { Command } from 'commander'
import { auditSecretCommand } from './audit-secret.ts'
import type { Open } from './installed.ts'

/** `audit`: what happened to one thing, told from the log. */
export function auditCommand(open: Open): Command {
  return new Command('audit')
    .description('tell what happened to one thing, from the log')
    .addHelpText('after', '\nExample:\n  npx adamant audit secret KEY')
    .addCommand(auditSecretCommand(open))
}
