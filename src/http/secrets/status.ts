import { z } from 'zod'
import { ok } from '../kit/answer.ts'
import { endpoint } from '../kit/endpoint.ts'
import { secretsFamily } from './errors.ts'
import { UNSTORED } from './shapes.ts'
import { account, anyone } from './sender.ts'

const NOMINAL = { status: 'nominal', locale: 'en' } as const

const common = {
  method: 'GET',
  family: secretsFamily,
  headers: UNSTORED,
  answers: {
    200: {
      about: 'It is.',
      schema: z.object({ status: z.literal('nominal'), locale: z.literal('en') }),
      example: NOMINAL,
    },
  },
  run: () => ok(NOMINAL),
} as const

export const secretsStatus = endpoint({
  ...common,
  name: 'secretsStatus',
  path: '/api/v1/status',
  about: 'Whether the secrets API is there.',
  who: anyone,
})

export const checkApiToken = endpoint({
  ...common,
  name: 'checkApiToken',
  path: '/api/v1/authcheck',
  about: 'Whether an e-mail address and an API token are right.',
  who: account,
})
