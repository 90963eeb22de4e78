import { connect } from 'node:net'
import * as assert from 'uvu/assert'
import { VERSION } from '../../../src/runtime/version.ts'
import { comes } from '../../until.ts'

/** A response as received. */
export type RawAnswer = { readonly status: number; readonly text: string; readonly body: string }

/** Sends bytes over a new connection and returns the response once the server closes it, so they must request that or be rejected. */
export function sendRaw(address: string, bytes: string | Buffer): Promise<RawAnswer> {
  const { hostname, port } = new URL(address)
  const answered = new Promise<RawAnswer>((done, fail) => {
    const chunks: Buffer[] = []
    const socket = connect(Number(port), hostname, () => void socket.write(bytes))
    const finish = () => {
      socket.destroy()
      done(rawAnswer(Buffer.concat(chunks).toString('latin1')))
    }
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.on('end', finish)
    socket.on('error', (error) => (chunks.length > 0 ? finish() : fail(error)))
  })
  return comes('the end of a connection', answered)
}

const rawAnswer = (text: string): RawAnswer => ({
  status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0),
  text,
  body: text.slice(text.indexOf('\r\n\r\n') + 4),
})

/** Expects the status and the headers that every response has. */
export function expectRaw(status: number, { status: got, text }: RawAnswer): void {
  assert.is(got, status, text.slice(0, 400))
  assert.match(text, new RegExp(`^x-app-version: ${VERSION.replaceAll('.', '\\.')}\r$`, 'im'))
  assert.match(text, /^x-request-id: [\x20-\x7e]{1,128}\r$/im)
}
