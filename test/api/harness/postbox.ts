import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { Readable } from 'node:stream'
import { simpleParser, type ParsedMail } from 'mailparser'
import { SMTPServer } from 'smtp-server'
import { freePort } from '../../free-port.ts'

/** A real SMTP server on a free port that collects accepted mails. */
export type Postbox = {
  readonly address: string
  readonly accepted: readonly ParsedMail[]
  /** Hooks for each recipient and each message; a hook throws to reject it. */
  refuse: { recipient: (address: string) => void; message: (mail: ParsedMail) => void }
  close(): Promise<void>
}

/** A rejection with an SMTP status, in the form that smtp-server expects. */
export class SmtpRefusal extends Error {
  constructor(
    readonly responseCode: number,
    message: string,
  ) {
    super(message)
  }
}

export async function openPostbox(port?: number): Promise<Postbox> {
  const accepted: ParsedMail[] = []
  const refuse: Postbox['refuse'] = { recipient: () => undefined, message: () => undefined }
  const postbox = {
    address: '',
    accepted,
    refuse,
    close: () => new Promise<void>((done) => server.close(() => done())),
  }
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onRcptTo: ({ address }, _session, done) => done(attempt(() => refuse.recipient(address))),
    onData: (stream, _session, done) => void receive(stream, postbox, accepted, done),
  })
  server.on('error', () => undefined)
  const listening = server.listen(port ?? (await freePort()), '127.0.0.1')
  await once(listening, 'listening')
  const { port: boundPort } = listening.address() as AddressInfo
  postbox.address = `smtp://127.0.0.1:${boundPort}`
  return postbox
}

async function receive(
  stream: Readable,
  postbox: Postbox,
  accepted: ParsedMail[],
  done: (error?: Error | null) => void,
): Promise<void> {
  let mail: ParsedMail
  try {
    mail = await simpleParser(stream)
  } catch (error) {
    // The sender was killed in the middle of its message.
    return done(error instanceof Error ? error : new Error('unreadable'))
  }
  const error = attempt(() => postbox.refuse.message(mail))
  if (error === null) accepted.push(mail)
  done(error)
}

function attempt(action: () => void): Error | null {
  try {
    action()
    return null
  } catch (error) {
    return error instanceof Error ? error : new Error('refused')
  }
}
