import { readdirSync, statSync } from 'node:fs'
import { request, type ClientRequest, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { file, formBody, formEnd, formHeaders, partHead, text } from '../api/harness/form.ts'
import { created } from '../api/harness/stones.ts'
import { waitFor, until } from '../until.ts'
import { withInstallation, type Serving } from './serving.ts'

const MIB = 1024 * 1024
const UPLOADS = 50
/** Mebibytes of each report. */
const MIBS = 9
/** Mebibytes of each report that are sent before any upload continues. */
const FIRST = 1

const test = suite(`${UPLOADS} concurrent uploads of 10 MB`)

test('are written to the disk as they arrive, not buffered in memory', () =>
  withInstallation(async ({ serve, dataDir }) => {
    const server = await serve()
    const { id } = await created(server.ann)
    // 25 different reports, twice each.
    const uploads = Array.from({ length: UPLOADS }, (_, n) => beginUpload(server, id, n % 25))
    await until('all of it on the disk', () => bytesIn(join(dataDir, 'files', 'incoming')) >= UPLOADS * FIRST * MIB)
    const statuses = uploads.map((upload) => finish(upload))
    assert.equal(await waitFor('all responses', Promise.all(statuses)), Array(UPLOADS).fill(201))
  }))

const FILLING = Buffer.alloc(MIB, '.')

/** Sends the beginning of report `number`. All reports share one buffer, so that this runs on a small machine. */
function beginUpload({ url, ann }: Serving, product: number, number: number): ClientRequest {
  const headers = { ...formHeaders, Authorization: `Bearer ${ann.token}` }
  const upload = request(new URL('/v4/certification', url), { method: 'POST', agent: false, headers })
  const texts = formBody([text('product', product), text('laboratory', 'GIA'), text('number', number)])
  const start = Buffer.from(`%PDF-1.7\n%${number}`)
  for (const piece of [texts.subarray(0, -formEnd.length), partHead(file('')), start]) upload.write(piece)
  for (let mebibyte = 0; mebibyte < FIRST; mebibyte++) upload.write(FILLING)
  return upload
}

/** Sends the rest. @returns the status of the response */
async function finish(upload: ClientRequest): Promise<number | undefined> {
  const responded = once(upload, 'response') as Promise<[IncomingMessage]>
  for (let mebibyte = FIRST; mebibyte < MIBS; mebibyte++) upload.write(FILLING)
  upload.end(Buffer.concat([Buffer.from('\nstartxref\n0\n%%EOF\n\r\n'), formEnd]))
  const [response] = await responded
  response.resume()
  return response.statusCode
}

const bytesIn = (folder: string): number =>
  readdirSync(folder).reduce(
    (sum, name) => sum + (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  )

test.run()
