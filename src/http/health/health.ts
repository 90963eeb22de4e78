import { z } from 'zod'
import { answer, ok } from '../kit/answer.ts'
import { anybody, endpoint } from '../kit/endpoint.ts'
import { platform } from '../kit/errors.ts'

export type HealthServices = {
  readonly health: {
    /** What is not ready yet, each with its reason; empty when the service is ready. */
    waiting(): Promise<readonly string[]>
  }
}

const UNSTORED = { 'Cache-Control': 'no-store' }

export const isLive = endpoint({
  name: 'isLive',
  method: 'GET',
  path: '/health/live',
  about: 'Whether the process answers, for whoever starts it and starts it again.',
  who: anybody,
  family: platform,
  answers: { 200: { about: 'It does', schema: z.object({ status: z.literal('live') }), example: { status: 'live' } } },
  run: () => ok({ status: 'live' }, UNSTORED),
})

export const isReady = endpoint({
  name: 'isReady',
  method: 'GET',
  path: '/health/ready',
  about: 'Whether requests may be sent here, for whoever spreads them.',
  who: anybody,
  family: platform,
  answers: {
    200: { about: 'They may', schema: z.object({ status: z.literal('ready') }), example: { status: 'ready' } },
    503: {
      about: 'Not yet',
      schema: z.object({
        status: z.literal('waiting'),
        waiting: z.array(z.string()).describe('For what, in sentences.'),
      }),
      headers: { 'Retry-After': 'Seconds' },
      example: { status: 'waiting', waiting: ['the diamonds read model is behind the log'] },
    },
  },
  async run(_asked, { health }: HealthServices) {
    const waiting = await health.waiting()
    if (waiting.length === 0) return ok({ status: 'ready' }, UNSTORED)
    return answer(503, { status: 'waiting', waiting }, { ...UNSTORED, 'Retry-After': '1' })
  },
})
