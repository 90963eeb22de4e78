import { form, post, type Shown } from '../../../api/harness/secrets.ts'
import { request } from '../../../api/harness/request.ts'
import { pace } from '../../../pace.ts'
import type { Reply } from '../record.ts'
import { RETRY_DELAY_MS, anyUrl, type Client } from './client.ts'

/** The fates of secrets with their weights. */
const PLANS = { keep: 3, read: 8, race: 6, burn: 3, both: 5 }
/** Number of concurrent readers for each fate. */
const READERS = { keep: 0, read: 1, race: 4, burn: 0, both: 2 } as const

/** The most secrets that are kept for the end of the run, where each is read. */
const MAX_KEPT = 200

/** A client that shares secrets, which are read and burned concurrently through any process. */
export async function useSecrets(client: Client): Promise<void> {
  while (!client.world.isOver()) {
    if ((await useSecret(client)).outcome === 'unknown') await pace(RETRY_DELAY_MS)
  }
}

async function useSecret(client: Client): Promise<Reply> {
  const { world, number, random } = client
  const secret = `secret ${world.number()}`
  const plan = random.pickWeighted(PLANS)
  const mailed = plan === 'keep' && world.keptSecrets.length < MAX_KEPT
  const parameters = { secret, ...(mailed && { recipient: `r${world.number()}@example.com` }) }
  const { response, ...result } = await world.record.send(number, () =>
    request(
      anyUrl(client),
      form('/api/v1/share', new URLSearchParams(parameters).toString(), world.sender.authorization),
    ),
  )
  world.record.add({ ...result, kind: 'share', secret })
  if (response?.status !== 200) return result
  const { secret_key, metadata_key } = response.json() as Shown
  if (mailed) world.keptSecrets.push({ secret, key: secret_key, mailed })
  const readers = Array.from({ length: READERS[plan] }, () => reveal(client, secret, secret_key, anyUrl(client)))
  const burner = plan === 'burn' || plan === 'both' ? [burn(client, secret, metadata_key)] : []
  await Promise.all([...readers, ...burner])
  return result
}

export async function reveal(
  { world, number }: Pick<Client, 'world' | 'number'>,
  secret: string,
  key: string,
  url: string,
): Promise<Reply> {
  const { response, ...result } = await world.record.send(number, () => post(url, `secret/${key}`))
  const value = response?.status === 200 ? { value: String((response.json() as Shown).value) } : {}
  world.record.add({ ...result, kind: 'reveal', secret, ...value })
  return result
}

async function burn(client: Client, secret: string, key: string): Promise<void> {
  const { world, number } = client
  const { response: _, ...result } = await world.record.send(number, () => post(anyUrl(client), `private/${key}/burn`))
  world.record.add({ ...result, kind: 'burn', secret })
}
