import { statfs } from 'node:fs/promises'
import type { CommandOutcomes, Counted } from '../commands/core/outcomes.ts'
import type { Metric } from '../http/health/metrics.ts'
import { VERSION } from '../runtime/version.ts'
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

/** What the process itself uses; names as Prometheus' own clients have them. */
export function processMetrics(): Metric[] {
  const { rss, heapUsed, heapTotal, external } = process.memoryUsage()
  const { user, system } = process.cpuUsage()
  const begun = Math.round(Date.now() / 1000 - process.uptime())
  return [
    { ...gauge('adamant_build_info', '1, with the release that runs', 1), labels: { version: VERSION } },
    gauge('process_resident_memory_bytes', 'Resident memory', rss),
    gauge('nodejs_heap_size_used_bytes', 'Memory that JavaScript values take', heapUsed),
    gauge('nodejs_heap_size_total_bytes', 'Memory that V8 has for them', heapTotal),
    gauge('nodejs_external_memory_bytes', 'Memory outside of that, such as buffers', external),
    gauge('process_uptime_seconds', 'Seconds since the process started', process.uptime()),
    gauge('process_start_time_seconds', 'When the process started, in seconds since 1970', begun),
    {
      name: 'process_cpu_seconds_total',
      help: 'Seconds of processor time that all threads of the process have used',
      kind: 'counter',
      value: (user + system) / 1e6,
    },
  ]
}

/** Room on the disk of a folder. */
export async function diskMetrics(folder: string): Promise<Metric[]> {
  // Where the system can't say, whoever watches sees that the figure is missing, and is told the rest all the same.
  const disk = await statfs(folder).catch(() => undefined)
  if (disk === undefined) return []
  const { bsize, bavail, blocks } = disk
  return [
    gauge('adamant_data_dir_free_bytes', 'Bytes that are free for the service on the disk of DATA_DIR', bsize * bavail),
    gauge('adamant_data_dir_size_bytes', 'Bytes of the disk of DATA_DIR', bsize * blocks),
  ]
}

/** What came of commands, by what they were on: a stream's first word. */
export function commandMetrics({ ended, retries }: Pick<CommandOutcomes, 'ended' | 'retries'>): Metric[] {
  return [
    ...ended.map(counted('adamant_commands_total', 'Commands that ended, by how', 'outcome')),
    ...retries.map(counted('adamant_command_retries_total', 'Tries of commands after the first, by why', 'reason')),
  ]
}

const counted =
  (name: string, help: string, label: string) =>
  ({ subject, kind, count }: Counted<string>): Metric => ({
    name,
    help,
    kind: 'counter',
    value: count,
    labels: { subject, [label]: kind },
  })
