import { Command } from 'commander'
import { auditCertification, auditDiamond } from './audit/diamond.ts'
import { auditClient, auditSession, auditUser } from './audit/user-client-session.ts'
import { addCorrelationOption } from './audit/correlation.ts'
import { auditSecret } from './audit/secret.ts'
import { subjectCommand, type AuditSubject } from './audit/subject.ts'
import type { OpenInstallation } from './with-installation.ts'

const SUBJECTS: readonly AuditSubject[] = [
  auditDiamond,
  auditCertification,
  auditSecret,
  auditUser,
  auditClient,
  auditSession,
]

/** `audit`: the history of one entity, or everything that one request caused. */
export function auditCommand(open: OpenInstallation): Command {
  const command = new Command('audit')
    .description(
      'Show the history of a diamond, account, secret or other entity, or everything that one request caused',
    )
    .addHelpText('after', EXAMPLE)
  for (const subject of SUBJECTS) command.addCommand(subjectCommand(open, subject))
  return addCorrelationOption(command, open)
}

const EXAMPLE = `
Examples:
  adamant audit diamond 7
  adamant audit user jane@example.com
  adamant audit --correlation c0c20284-f50b-421f-9f28-ecec59eb5d99`
