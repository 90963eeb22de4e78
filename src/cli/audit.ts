import { Command } from 'commander'
import { auditSecretCommand } from './audit-secret.ts'
import { auditDiamond } from './audit/diamond.ts'
import { subjectCommand, type Subject } from './audit/subject.ts'
import type { Open } from './installed.ts'

/** What can be asked about. */
const SUBJECTS: readonly Subject[] = [auditDiamond]

/** `audit`: what happened to one thing, told from the log. */
export function auditCommand(open: Open): Command {
  const command = new Command('audit')
    .description('tell what happened to one thing, from the log')
    .addHelpText('after', '\nExamples:\n  npx adamant audit diamond 7\n  npx adamant audit secret KEY')
    .addCommand(auditSecretCommand(open))
  for (const subject of SUBJECTS) command.addCommand(subjectCommand(open, subject))
  return command
}
