/**
 * The mail port: hands one message over to somebody who delivers it.
 * Adapters: smtp-mail.ts, outbox-mail.ts (.eml files, for development).
 */
export type OutgoingMail = {
  /** With its angle brackets. The same at every try, so that a second copy is known for what it is. */
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
   * Resolves when the message is the other side's to deliver.
   * @throws Undeliverable when it never will be; any other error means that a later try may succeed
   */
  send(mail: OutgoingMail): Promise<void>
  /** Where messages stay on this machine, takes these back. Done twice, it changes nothing more. */
  withdraw?(messageIds: Iterable<string>): Promise<void>
  close(): Promise<void>
}

/** The other side refused the message for good. Its message is fit for the audit: a code and no address. */
export class UndeliverableMail extends Error {
  override readonly name = 'Undeliverable'
}
