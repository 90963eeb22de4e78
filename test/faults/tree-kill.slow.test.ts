import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { startService } from '../api/harness/service.ts'
import { verifiedServiceRoot } from '../evidence/service-tree.ts'
import { rounds } from '../rounds.ts'
import { until } from '../until.ts'
import { newWriteRecord, writeUntilDown } from './load.ts'
import { withInstallation } from './serving.ts'

const ROUNDS = rounds(2, 20)
const CLIENTS = 4

const test = suite('the Merkle tree of a log')

test(`matches the events of the log after a kill during writes, ${ROUNDS} times`, () =>
  withInstallation(async ({ serve, dataDir }) => {
    let known: { readonly size: number; readonly root: string } | undefined
    for (let round = 0; round < ROUNDS; round++) {
      const service = await serve()
      const record = newWriteRecord()
      const clients = Array.from({ length: CLIENTS }, (_, client) =>
        writeUntilDown(service.ann, `${round}-${client}`, record),
      )
      await until('creates', () => record.created.size > 150)
      await service.kill()
      await Promise.all(clients)
      const again = await startService({ dataDir })
      try {
        if (known !== undefined) assert.equal(await verifiedServiceRoot(again.installation, known.size), known)
        known = await verifiedServiceRoot(again.installation)
        assert.ok(known.size > 150)
      } finally {
        await again.stop()
      }
    }
  }))

test.run()
