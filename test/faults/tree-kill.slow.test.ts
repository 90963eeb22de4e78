import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { startService } from '../api/harness/service.ts'
import { verifiedServiceRoot } from '../evidence/service-tree.ts'
import { rounds } from '../rounds.ts'
import { until } from '../until.ts'
import { nothingTold, writeUntilGone } from './load.ts'
import { withInstallation } from './serving.ts'

const ROUNDS = rounds(2, 20)
const CLIENTS = 4

const test = suite('the tree of a log')

test(`is that of its events after a kill in the middle of writes, ${ROUNDS} times over`, () =>
  withInstallation(async ({ serve, dataDir }) => {
    let known: { readonly size: number; readonly root: string } | undefined
    for (let round = 0; round < ROUNDS; round++) {
      const service = await serve()
      const told = nothingTold()
      const clients = Array.from({ length: CLIENTS }, (_, client) =>
        writeUntilGone(service.ann, `${round}-${client}`, told),
      )
      await until('creates', () => told.created.size > 150)
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
