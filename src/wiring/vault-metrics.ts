import type { Metric } from '../http/health/metrics.ts'
import type { Installation } from './installation.ts'
import { ifThere } from './metrics.ts'

/** What waits in the vault, and for how long the mail has been due that waits longest; none of it while it is away. */
export async function vaultMetrics({ vault, writing }: Pick<Installation, 'vault' | 'writing'>): Promise<Metric[]> {
  const counts = await ifThere(() => vault.counts())
  const due = await ifThere(async () => ({ at: await vault.nextMail() }))
  if (counts === undefined || due === undefined) return []
  const late = due.at === undefined ? 0 : Math.max(0, writing.clock() - due.at) / 1000
  return [
    gauge('adamant_vault_secrets', 'One-time secrets that wait for their readers', counts.secrets),
    gauge('adamant_vault_receipts', 'Secrets that their senders can still find', counts.receipts),
    gauge('adamant_mails_waiting', 'Mails to be sent, those too that wait for their secret to be read', counts.mails),
    gauge('adamant_mail_overdue_seconds', 'Seconds for which the mail has been due that waits longest', late),
  ]
}

const gauge = (name: string, help: string, value: number): Metric => ({ name, help, kind: 'gauge', value })
