import { form, post, type Shown } from '../../../api/harness/secrets.ts'
import { request } from '../../../api/harness/request.ts'
import { pace } from '../../../pace.ts'
import type { Reply } from '../record.ts'
import { AGAIN, anywhere, type Client } from './client.ts'

/** What becomes of a secret: how many readers come at once, and whether somebody burns it meanwhile. */
const PLANS = { keep: 3, read: 8, race: 6, burn: 3, both: 5 }
const READERS = { keep: 0, read: 1, race: 4, burn: 0, both: 2 } as const

/** Secrets that wait for the end: each is looked at there. */
const MOST_KEPT = 200

/** A client that shares one secret after another, with readers and burners who come at once and by any process. */
export async function useSecrets(client: Client): Promise<void> {
  while (!client.world.isOver()) {
    if ((await useOne(client)).outcome === 'unknown') await pace(AGAIN)
  }
}

async function useOne(client: Client): Promise<Reply> {
  const { world, number, choices } = client
  const secret = `secret ${world.number()}`
  const plan = choices.weighted(PLANS)
  const mailed = plan === 'keep' && world.kept.length < MOST_KEPT
  const parameters = { secret, ...(mailed && { recipient: `r${world.number()}@example.com` }) }
  const { answer, ...told } = await world.record.ask(number, () =>
    request(
      anywhere(client),
      form('/api/v1/share', new URLSearchParams(parameters).toString(), world.sender.authorization),
    ),
  )
  world.record.keep({ ...told, kind: 'share', secret })
  if (answer?.status !== 200) return told
  const { secret_key, metadata_key } = answer.json() as Shown
  if (mailed) world.kept.push({ secret, key: secret_key, mailed })
  const readers = Array.from({ length: READERS[plan] }, () => reveal(client, secret, secret_key, anywhere(client)))
  const burner = plan === 'burn' || plan === 'both' ? [burn(client, secret, metadata_key)] : []
  await Promise.all([...readers, ...burner])
  return told
}

export async function reveal(
  { world, number }: Pick<Client, 'world' | 'number'>,
  secret: string,
  key: string,
  url: string,
): Promise<Reply> {
  const { answer, ...told } = await world.record.ask(number, () => post(url, `secret/${key}`))
  const value = answer?.status === 200 ? { value: String((answer.json() as Shown).value) } : {}
  world.record.keep({ ...told, kind: 'reveal', secret, ...value })
  return told
}

async function burn(client: Client, secret: string, key: string): Promise<void> {
  const { world, number } = client
  const { answer: _, ...told } = await world.record.ask(number, () => post(anywhere(client), `private/${key}/burn`))
  world.record.keep({ ...told, kind: 'burn', secret })
}
