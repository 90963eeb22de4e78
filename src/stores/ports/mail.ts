/**
 * The mail port: hands a message over to a mail server for delivery.
 * Adapters: mail/smtp.ts, mail/outbox.ts (.eml files, for development).
 */
export type OutgoingMail = {
  /** Including the angle brackets. The same for every attempt, so that recipients' mail systems recognise a duplicate. */
  readonly messageId: string
  readonly date: Date
  readonly from: string
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
}

export interface MailTransport {
  /**
   * Resolves once the receiving server has accepted responsibility for delivery.
   * @throws UndeliverableMail if retrying cannot succeed; after any other error a retry may succeed
   */
  send(mail: OutgoingMail): Promise<void>
  /** Deletes messages that are still on this machine. Idempotent. Absent if messages leave the machine. */
  withdraw?(messageIds: Iterable<string>): Promise<void>
  close(): Promise<void>
}

/**
 * The receiving server rejected the message permanently. The error message may be logged: it contains a status code and
 * no address.
 */
export class UndeliverableMail extends Error {
  override readonly name = 'UndeliverableMail'
}

/**
 * The server refuses this service, not a recipient or a text: a retry succeeds once the configuration is mended. The error
 * message may be logged.
 */
export class ServiceRefused extends Error {
  override readonly name = 'ServiceRefused'
}
