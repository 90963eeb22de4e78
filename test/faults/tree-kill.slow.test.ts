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
    let previous: { readonly size: number; readonly root: string } | undefined
    for (let round = 0; round < ROUNDS; round++) {
      const service = await serve()
      const record = newWriteRecord()
      const clients = Array.from({ length: CLIENTS }, (_, client) =>
        writeUntilDown(service.ann, `${round}-${client}`, record),
      )
      await until('creates', () => record.created.size > 150)
      await service.kill()
      await Promise.all(clients)
      const restarted = await startService({ dataDir })
      try {
        if (previous !== undefined)
          assert.equal(await verifiedServiceRoot(restarted.installation, previous.size), previous)
        previous = await verifiedServiceRoot(restarted.installation)
        assert.ok(previous.size > 150)
      } finally {
        await restarted.stop()
      }
    }
  }))

test.run()
