import { suite } from 'uvu'
import { LOG_KEY_STREAM, CHECKPOINTS_STREAM } from '../../src/domain/installation/keys.ts'
import { StoreUnavailable, type EventStore } from '../../src/stores/ports/event-store.ts'
import { refusal } from './harness/request.ts'
import { GENEROUS_TIMEOUT_MS, startService } from './harness/service.ts'
import { created } from './harness/stones.ts'

const test = suite('a log of which nothing is signed')

const CHECKPOINT = '/log/checkpoint'
const CONSISTENCY = '/log/consistency?from=0&to=1'

test('says so as long as it takes no event', async () => {
  const append: EventStore['append'] = async () => {
    throw new StoreUnavailable('away')
  }
  const store = (opened: EventStore): EventStore => ({
    ...opened,
    append: (stream, ...of) => (stream === CHECKPOINTS_STREAM ? append : opened.append)(stream, ...of),
  })
  const service = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS, store })
  try {
    const { id } = await created(service.ann, { sku: 'A' })
    refusal(503, await service.send({ path: CHECKPOINT }))
    refusal(503, await service.send({ path: CONSISTENCY }))
    refusal(503, await service.ann.get(`/v4/diamond/${id}/proof`))
  } finally {
    await service.stop()
  }
})

test('and that was closed before it had a key has none', async () => {
  const store = (opened: EventStore): EventStore => ({
    ...opened,
    closedReason: async () => ({ why: 'read-only' }),
    read: async (stream, ...of) => (stream === LOG_KEY_STREAM ? [] : opened.read(stream, ...of)),
  })
  const service = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS, store })
  try {
    const { id } = await created(service.ann, { sku: 'A' })
    for (const path of [CHECKPOINT, CONSISTENCY, '/log/key']) refusal(404, await service.send({ path }))
    refusal(404, await service.ann.get(`/v4/diamond/${id}/proof`))
  } finally {
    await service.stop()
  }
})

test.run()
