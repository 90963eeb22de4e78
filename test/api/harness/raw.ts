import { connect } from 'node:net'
import * as assert from 'uvu/assert'
import { VERSION } from '../../../src/runtime/version.ts'
import { waitFor } from '../../until.ts'

/** A response as received. */
export type RawApiResponse = { readonly status: number; readonly text: string; readonly body: string }

/** Sends bytes over a new connection and returns the response once the server closes it, so they must request that or be rejected. */
export function sendRaw(address: string, bytes: string | Buffer): Promise<RawApiResponse> {
  const { hostname, port } = new URL(address)
  const received = new Promise<RawApiResponse>((done, fail) => {
    const chunks: Buffer[] = []
    const socket = connect(Number(port), hostname, () => void socket.write(bytes))
    const finish = () => {
      socket.destroy()
      done(parseRaw(Buffer.concat(chunks).toString('latin1')))
    }
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.on('end', finish)
    socket.on('error', (error) => (chunks.length > 0 ? finish() : fail(error)))
  })
  return waitFor('the end of a connection', received)
}

const parseRaw = (text: string): RawApiResponse => ({
  status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0),
  text,
  body: text.slice(text.indexOf('\r\n\r\n') + 4),
})

/** Expects the status and the headers that every response has. */
export function expectRaw(status: number, { status: actual, text }: RawApiResponse): void {
  assert.is(actual, status, text.slice(0, 400))
  assert.match(text, new RegExp(`^x-app-version: ${VERSION.replaceAll('.', '\\.')}\r$`, 'im'))
  assert.match(text, /^x-request-id: [\x20-\x7e]{1,128}\r$/im)
}
