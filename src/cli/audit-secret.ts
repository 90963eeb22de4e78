import { Command } from 'commander'
import { digestOfSecretKey, keysOfMetadataKey, secretStream } from '../credentials/secret-keys.ts'
import { Refusal } from '../domain/refusal.ts'
import { decode } from '../events/decode.ts'
import type { EventStore, StoredEvent } from '../stores/ports/event-store.ts'
import type { SecretEvent } from '../domain/secret/secret.ts'
import { withInstallation, type Open } from './installed.ts'
import { printResult, table, type OutputOptions } from './output.ts'

/** One thing that happened to a secret; nothing of it opens anything. */
export type AuditLine = {
  /** ISO 8601, UTC. */
  readonly at: string
  readonly what: string
  readonly who: string
  readonly via: string
  /** The request's id, or the run's. */
  readonly request: string
  readonly detail: string
}

/**
 * Who did what with a secret, and when.
 * @param id the digest that names its stream, with or without `secret-`, or either of its keys
 * @param until leaves out what happened after it (milliseconds since 1970)
 * @throws Refusal missing
 */
export async function auditSecret(store: EventStore, id: string, until = Infinity): Promise<AuditLine[]> {
  for (const digest of digestsOf(id)) {
    const events = await store.read(secretStream(digest))
    if (events.length > 0)
      return events.filter(({ metadata }) => !(Date.parse(metadata['at'] ?? '') > until)).map(lineOf)
  }
  throw new Refusal(
    'missing',
    'There is no secret of this id; it is the digest that names its stream, or one of its keys',
  )
}

/** What an id may name; a key is tried as either kind. */
function digestsOf(id: string): string[] {
  const digest = id.replace(/^secret-/, '')
  if (/^[0-9a-f]{64}$/.test(digest)) return [digest]
  return [keysOfMetadataKey(id)?.digest, digestOfSecretKey(id)].filter((found) => found !== undefined)
}

function lineOf(stored: StoredEvent): AuditLine {
  const { metadata } = stored
  return {
    at: metadata['at'] ?? '',
    what: stored.type,
    who: metadata['actor'] ?? '',
    via: metadata['via'] ?? '',
    request: metadata['$correlationId'] ?? '',
    detail: detailOf(decode<SecretEvent>(stored)),
  }
}

function detailOf(event: SecretEvent): string {
  switch (event.type) {
    case 'SecretShared': {
      const { kind, ttl, passphrase, recipient, notify } = event.data
      const words = [kind, `for ${ttl} s`, passphrase ? 'with a passphrase' : 'without a passphrase']
      if (recipient.length > 0) words.push(`to ${recipient.join(', ')}`)
      return [...words, ...(notify ? ['owner is told'] : [])].join(', ')
    }
    case 'PassphraseTried':
      return `to ${event.data.for} it`
    case 'SecretBurned':
      return `by ${event.data.by === 'owner' ? 'its owner' : 'who has its key'}`
    case 'MailSent':
      return `${event.data.mail} ${event.data.messageId}`
    case 'MailRefused':
      return `${event.data.mail} ${event.data.messageId}: ${event.data.reason}`
    default:
      return ''
  }
}

type AuditOptions = OutputOptions & { readonly at?: string }

/** `audit secret ID`, to be put under `audit`. */
export function auditSecretCommand(open: Open): Command {
  return new Command('secret')
    .description('tell what became of a secret: who did what and when, and nothing of the secret itself')
    .argument('<id>', 'the digest that names its stream, or one of its keys')
    .option('--at <time>', 'as it was at this time, ISO 8601')
    .option('--json', 'print one line of JSON')
    .addHelpText(
      'after',
      '\nExample:\n  npx adamant audit secret 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    )
    .action((id: string, options: AuditOptions) => audit(open, id, options))
}

async function audit(open: Open, id: string, options: AuditOptions): Promise<void> {
  const until = options.at === undefined ? Infinity : Date.parse(options.at)
  if (Number.isNaN(until))
    throw new Refusal('invalid', `--at must be a time such as 2026-11-21T10:00:00Z, got ${options.at}`)
  const lines = await withInstallation(open, ({ store }) => auditSecret(store, id, until))
  const rows = lines.map(({ at, what, who, via, detail }) => [at, what, `${who} via ${via}`, detail])
  printResult(options, { events: lines }, table(['when', 'what', 'who', 'detail'], rows))
}
