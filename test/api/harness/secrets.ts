import { randomUUID } from 'node:crypto'
import * as assert from 'uvu/assert'
import { IdAllocator } from '../../../src/commands/installation/id-allocator.ts'
import { issueApiToken } from '../../../src/commands/accounts/api-tokens.ts'
import { registerAccount } from '../../../src/commands/accounts/accounts.ts'
import type { Plan } from '../../../src/domain/account/account.ts'
import type { Installation } from '../../../src/wiring/installation.ts'
import { expect, request, type ApiResponse, type Request } from './request.ts'

/** An account with an API token of the secrets API. */
export type Sender = {
  readonly account: number
  readonly email: string
  readonly token: string
  readonly authorization: string
  readonly tokenId: string
}

/** A secret in a response. */
export type Shown = Readonly<Record<string, unknown>> & {
  readonly metadata_key: string
  readonly secret_key: string
  readonly value: string
  readonly state: unknown
}

const origin = { actor: 'operator', via: 'cli', correlation: 'test' } as const

export async function newSender({ context }: Installation, plan: Plan = 'basic'): Promise<Sender> {
  const accountIds = new IdAllocator({ ...context, kind: 'account', size: 1, origin })
  const registering = { ...context, accountIds, passwords: { hash: async () => 'not a hash' } }
  const email = `${randomUUID()}@example.com`
  const { account } = await registerAccount(registering, { email, password: 'unused', plan }, origin)
  return { account, email, ...(await newToken({ context }, email)) }
}

/** Issues another API token to an account. */
export async function newToken({ context }: Pick<Installation, 'context'>, email: string) {
  const { token, id } = await issueApiToken(context, { email, lifetimeMs: undefined }, origin)
  return { token, tokenId: id, authorization: basic(email, token) }
}

export const basic = (user: string, password: string) =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`

/** A request with parameters as `curl -d` sends them, unescaped. */
export const form = (path: string, body: string, authorization?: string): Request => ({
  method: 'POST',
  path,
  body,
  headers: {
    'Content-Type': 'application/x-www-form-urlencoded',
    ...(authorization !== undefined && { Authorization: authorization }),
  },
})

/** Shares a secret by a form and returns the body of the response. */
export async function shared(
  url: string,
  sender: Sender,
  parameters: Readonly<Record<string, string>>,
): Promise<Shown> {
  const body = new URLSearchParams(parameters).toString()
  return shownIn(await request(url, form('/api/v1/share', body, sender.authorization)))
}

export const shownIn = (response: ApiResponse): Shown => expect(200, response).json() as Shown

/** An empty POST, as most programs send it to reveal a secret. */
export const post = (url: string, path: string, headers: Request['headers'] = {}) =>
  request(url, { method: 'POST', path: `/api/v1/${path}`, headers })

export const reveal = (url: string, key: string, passphrase?: string): Promise<ApiResponse> =>
  passphrase === undefined
    ? post(url, `secret/${key}`)
    : request(url, form(`/api/v1/secret/${key}`, new URLSearchParams({ passphrase }).toString()))

/** Expects the exact response for an unknown secret. */
export function expectUnknownSecret(response: ApiResponse, key: string): void {
  expect(404, response)
  assert.is(response.text, `{"secret_key":"${key}","message":"Unknown secret"}`)
  assert.is(response.headers['content-type'], 'application/json; charset=utf-8')
}

/** Expects the status and the exact message of an error. */
export function expectError(response: ApiResponse, status: number, message: string): void {
  expect(status, response)
  assert.equal(response.json(), { message })
}
