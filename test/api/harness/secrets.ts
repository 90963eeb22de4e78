import { randomUUID } from 'node:crypto'
import * as assert from 'uvu/assert'
import { IdAllocator } from '../../../src/commands/installation/id-allocator.ts'
import { issueApiToken } from '../../../src/commands/accounts/api-tokens.ts'
import { registerAccount } from '../../../src/commands/accounts/accounts.ts'
import type { Plan } from '../../../src/domain/account/account.ts'
import type { Installation } from '../../../src/wiring/installation.ts'
import { expect, request, type Answer, type Request } from './request.ts'

/** Somebody with an account and an API token of the secrets API. */
export type Sender = {
  readonly account: number
  readonly email: string
  readonly token: string
  readonly authorization: string
  readonly tokenId: string
}

/** What an answer shows of a secret. */
export type Shown = Readonly<Record<string, unknown>> & {
  readonly metadata_key: string
  readonly secret_key: string
  readonly value: string
  readonly state: unknown
}

const origin = { actor: 'operator', via: 'cli', correlation: 'test' } as const

export async function newSender({ writing }: Installation, plan: Plan = 'basic'): Promise<Sender> {
  const accountIds = new IdAllocator({ ...writing, kind: 'account', size: 1, origin })
  const registering = { ...writing, accountIds, passwords: { hash: async () => 'not a hash' } }
  const email = `${randomUUID()}@example.com`
  const { account } = await registerAccount(registering, { email, password: 'unused', plan }, origin)
  return { account, email, ...(await newToken({ writing }, email)) }
}

/** Another API token of an account. */
export async function newToken({ writing }: Pick<Installation, 'writing'>, email: string) {
  const { token, id } = await issueApiToken(writing, { email, lifetimeMs: undefined }, origin)
  return { token, tokenId: id, authorization: basic(email, token) }
}

export const basic = (user: string, password: string) =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`

/** Parameters as `curl -d` sends them, without being escaped. */
export const form = (path: string, body: string, authorization?: string): Request => ({
  method: 'POST',
  path,
  body,
  headers: {
    'Content-Type': 'application/x-www-form-urlencoded',
    ...(authorization !== undefined && { Authorization: authorization }),
  },
})

/** Shares by a form, and gives the answer's body. */
export async function shared(
  url: string,
  sender: Sender,
  parameters: Readonly<Record<string, string>>,
): Promise<Shown> {
  const body = new URLSearchParams(parameters).toString()
  return shownIn(await request(url, form('/api/v1/share', body, sender.authorization)))
}

export const shownIn = (answer: Answer): Shown => expect(200, answer).json() as Shown

/** An empty POST, as most programs ask for a secret. */
export const post = (url: string, path: string, headers: Request['headers'] = {}) =>
  request(url, { method: 'POST', path: `/api/v1/${path}`, headers })

export const reveal = (url: string, key: string, passphrase?: string): Promise<Answer> =>
  passphrase === undefined
    ? post(url, `secret/${key}`)
    : request(url, form(`/api/v1/secret/${key}`, new URLSearchParams({ passphrase }).toString()))

/** Holds that an answer is the refusal of a secret that is not there, byte for byte. */
export function isUnknown(answer: Answer, key: string): void {
  expect(404, answer)
  assert.is(answer.text, `{"secret_key":"${key}","message":"Unknown secret"}`)
  assert.is(answer.headers['content-type'], 'application/json; charset=utf-8')
}

/** Holds the status and the exact message of a refusal. */
export function refused(answer: Answer, status: number, message: string): void {
  expect(status, answer)
  assert.equal(answer.json(), { message })
}
