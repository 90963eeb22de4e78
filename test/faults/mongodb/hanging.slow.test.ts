import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { attached, pathOf, smallPdf } from '../../api/harness/form.ts'
import type { ApiResponse } from '../../api/harness/request.ts'
import { form, newSender, post, reveal, shared } from '../../api/harness/secrets.ts'
import { startService } from '../../api/harness/service.ts'
import { created, stone } from '../../api/harness/stones.ts'
import { FERRETDB, startFerretDB } from '../../ferretdb/server.ts'
import { freeze, thaw } from '../../freeze.ts'
import { waitFor } from '../../until.ts'

const test = suite('a service whose MongoDB hangs')

test('responds to every kind of request, with 503 as the only server error', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'adamant-hanging-'))
  const ferret = await startFerretDB(folder)
  const service = await startService({ settings: { READ_MODEL: `${ferret.address}adamant` } })
  try {
    const { ann, url } = service
    const first = await created(ann)
    const certificate = await attached(ann, Number(first.id), smallPdf(1000))
    const sender = await newSender(service.installation)
    const secret = await shared(url, sender, { secret: 'x' })
    await freeze(ferret.pid)
    const requests: Readonly<Record<string, () => Promise<ApiResponse>>> = {
      'a stone': () => ann.get(`/v4/diamond/${first.id}`),
      'a list': () => ann.get('/v4/diamond'),
      'a create': () => ann.post('/v4/diamond', stone()),
      'a change': () => ann.patch(`/v4/diamond/${first.id}`, { price: 7 }),
      'a removal of a certification': () => ann.remove(`/v4/certification/${certificate.id}`),
      'a file': () => service.send({ path: pathOf(certificate.file ?? '') }),
      'a share': () => service.send(form('/api/v1/share', 'secret=x', sender.authorization)),
      'a reveal': () => reveal(url, secret.secret_key),
      metadata: () => post(url, `private/${secret.metadata_key}`),
      'recent secrets': () =>
        service.send({ path: '/api/v1/private/recent', headers: { Authorization: sender.authorization } }),
      readiness: () => service.send({ path: '/health/ready' }),
    }
    for (const round of ['first', 'second']) {
      const responses = Object.entries(requests).map(async ([name, send]) => {
        const { status } = await waitFor(`a response to ${name} (${round})`, send())
        assert.ok(status < 500 || status === 503, `${name} is ${status} (${round})`)
      })
      await Promise.all(responses)
    }
  } finally {
    thaw(ferret.pid)
    await service.stop()
    await ferret.kill()
    rmSync(folder, { recursive: true, force: true })
  }
})

if (FERRETDB === undefined) console.log('LEFT OUT: a MongoDB that hangs: FERRETDB_BIN is not set')
else test.run()
