import { registerAccount } from '../../../src/commands/accounts/accounts.ts'
import { registerClient } from '../../../src/commands/clients/clients.ts'
import { IdAllocator } from '../../../src/commands/installation/id-allocator.ts'
import { PasswordHasher } from '../../../src/credentials/password-hasher.ts'
import type { Installation } from '../../../src/wiring/installation.ts'
import type { Person } from './clients/client.ts'

const origin = { actor: 'operator', via: 'cli', correlation: 'workload' } as const

/** Registers an account with a password, and an OAuth client. */
export async function newPerson({ context }: Installation): Promise<Person> {
  const ids = { ...context, size: 1, origin }
  const accountIds = new IdAllocator({ ...ids, kind: 'account' })
  const clientIds = new IdAllocator({ ...ids, kind: 'client' })
  const passwords = new PasswordHasher()
  const person = { email: 'person@example.com', password: 'correct horse battery staple' }
  try {
    await registerAccount({ ...context, accountIds, passwords }, { ...person, plan: 'basic' }, origin)
  } finally {
    await passwords.close()
  }
  const { client, secret } = await registerClient({ ...context, clientIds }, 'workload', origin)
  return { ...person, client, clientSecret: secret }
}
