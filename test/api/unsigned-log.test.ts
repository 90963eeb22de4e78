import { suite } from 'uvu'
import { LOG_KEY_STREAM, CHECKPOINTS_STREAM } from '../../src/domain/installation/keys.ts'
import { StoreUnavailable, type EventStore } from '../../src/stores/ports/event-store.ts'
import { refusal } from './harness/request.ts'
import { GENEROUS_TIMEOUT_MS, startService } from './harness/service.ts'
import { created } from './harness/stones.ts'

const test = suite('a log without a signed checkpoint')

const CHECKPOINT = '/log/checkpoint'
const CONSISTENCY = '/log/consistency?from=0&to=1'

test('returns 503 while checkpoints cannot be appended', async () => {
  const append: EventStore['append'] = async () => {
    throw new StoreUnavailable('made unavailable by the test')
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
    refusal(400, await service.send({ path: '/log/consistency?from=first&to=1' }))
    refusal(503, await service.ann.get(`/v4/diamond/${id}/proof`))
  } finally {
    await service.stop()
  }
})

test('that was closed before it had a key returns 404', async () => {
  const store = (opened: EventStore): EventStore => ({
    ...opened,
    closedReason: async () => ({ why: 'read-only' }),
    readStream: async (stream, ...of) => (stream === LOG_KEY_STREAM ? [] : opened.readStream(stream, ...of)),
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
