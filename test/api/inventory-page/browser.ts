import { randomUUID } from 'node:crypto'
import { registerAccount } from '../../../src/commands/accounts/accounts.ts'
import { IdAllocator } from '../../../src/commands/installation/id-allocator.ts'
import { AccessTokens } from '../../../src/credentials/access-tokens.ts'
import { PasswordHasher } from '../../../src/credentials/password-hasher.ts'
import { vendor, type Vendor } from '../harness/account.ts'
import { formBody, formHeaders, type Part } from '../harness/form.ts'
import { expect, type ApiResponse, type Request } from '../harness/request.ts'
import { form } from '../harness/secrets.ts'
import type { Service } from '../harness/service.ts'
import { CHEAP_HASHES } from '../../credentials/cheap-hashes.ts'

/** An account with a password. */
export type Person = { readonly account: number; readonly email: string; readonly password: string }

const origin = { actor: 'operator', via: 'cli', correlation: 'test' } as const

/** Registers an account with a real password hash. */
export async function newPerson({ installation: { context } }: Service): Promise<Person> {
  const accountIds = new IdAllocator({ ...context, kind: 'account', size: 1, origin })
  const [email, password] = [`${randomUUID()}@example.com`, randomUUID()]
  const passwords = new PasswordHasher(CHEAP_HASHES.passwords)
  try {
    const registration = { email, password, plan: 'basic' } as const
    const { account } = await registerAccount({ ...context, passwords, accountIds }, registration, origin)
    return { account, email, password }
  } finally {
    await passwords.close()
  }
}

/** What the log-in form sends. */
export const logInRequest = (
  { email = '', password = '' }: Partial<Pick<Person, 'email' | 'password'>>,
  headers: Request['headers'] = {},
  path = '/inventory',
  fields: Readonly<Record<string, string>> = {},
): Request => {
  const sent = form(path, new URLSearchParams({ email, password, ...fields }).toString())
  return { ...sent, headers: { ...sent.headers, ...SAME_ORIGIN, ...headers } }
}

export const cookieIn = (response: ApiResponse): string => String(response.headers['set-cookie']?.[0])

/** The cookie of a new session, as a browser sends it back. */
export async function cookieOf(service: Service, person: Person): Promise<string> {
  const response = expect(303, await service.send(logInRequest(person)))
  return String(cookieIn(response).split(';', 1)[0])
}

export const getPage = (service: Service, path: string, cookie: string): Promise<ApiResponse> =>
  service.send({ path, headers: { Cookie: cookie } })

/** True for the log-in page. */
export const isLogIn = ({ text }: ApiResponse): boolean => text.includes('type="password"') && !text.includes('Log out')

/** A person whose program creates stones and whose browser shows them. */
export type Owner = {
  readonly person: Person
  readonly owner: Vendor
  /** Gets a page with the cookie of this owner. */
  readonly openPage: (path: string) => Promise<ApiResponse>
  /** Sends a form of a page with the cookie of this owner. */
  readonly submit: (path: string, fields: Fields, headers?: Request['headers']) => Promise<ApiResponse>
  /** Sends a form with a file. */
  readonly submitFile: (path: string, parts: readonly Part[]) => Promise<ApiResponse>
}

type Fields = Readonly<Record<string, string>>

/** What a browser says of a form that one of the service's pages has sent. */
const SAME_ORIGIN = { 'Sec-Fetch-Site': 'same-origin' }

export async function newOwner(service: Service): Promise<Owner> {
  const person = await newPerson(service)
  const { keys, settings, context } = service.installation
  const tokens = new AccessTokens({ keys, ttl: settings.TOKEN_TTL, clock: context.clock })
  const grant = { account: person.account, accountEpoch: 0, client: '1_x', clientEpoch: 0 }
  const cookie = await cookieOf(service, person)
  const owner = vendor(service.url, person.account, tokens.issue(grant, 'programs', 0))
  return {
    person,
    owner,
    openPage: (path) => getPage(service, path, cookie),
    submit(path, fields, headers = {}) {
      const sent = form(path, new URLSearchParams(fields).toString())
      return service.send({ ...sent, headers: { ...sent.headers, ...SAME_ORIGIN, Cookie: cookie, ...headers } })
    },
    submitFile: (path, parts) =>
      service.send({
        method: 'POST',
        path,
        headers: { ...formHeaders, ...SAME_ORIGIN, Cookie: cookie },
        body: formBody(parts),
      }),
  }
}
