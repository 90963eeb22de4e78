import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { suite } from 'uvu'
import { openPostbox, type Postbox } from '../api/harness/postbox.ts'
import { post, shared, shownIn, type Sender, type Shown } from '../api/harness/secrets.ts'
import { rounds } from '../rounds.ts'
import { randomFor } from '../seeded.ts'
import { senderIn } from './accounts-in-folder.ts'
import { startServer, type ServerProcess } from './server-process.ts'
import { until } from '../until.ts'

const test = suite('a service that is killed')
const ROUNDS = rounds(2, 100)

/** A secret and the responses its clients got before the connection broke. */
type SharedSecret = {
  readonly shown: Shown
  readonly value: string
  readonly plan: 'keep' | 'read' | 'burn' | 'read and burn' | 'mail'
  /** How often the value was returned. */
  values: number
  tried: boolean
  burned: boolean
}

const PLANS = ['keep', 'read', 'burn', 'read and burn', 'mail'] as const

/** Clients share, read and burn secrets until the service is killed; a broken connection counts as no response. */
async function useUntilKilled(
  { url }: ServerProcess,
  ann: Sender,
  sharedSecrets: SharedSecret[],
  round: number,
): Promise<void> {
  const client = async (number: number) => {
    for (let n = 0; ; n++) {
      const plan = PLANS[(number + n) % PLANS.length] ?? 'keep'
      const value = `value ${round}/${number}/${n}`
      const parameters = {
        secret: value,
        ...(plan === 'mail' && { recipient: `r${round}-${number}-${n}@example.com` }),
      }
      const one: SharedSecret = {
        shown: await shared(url, ann, parameters),
        value,
        plan,
        values: 0,
        tried: false,
        burned: false,
      }
      sharedSecrets.push(one)
      one.tried = plan.includes('read') || plan.includes('burn')
      await Promise.all([plan.includes('read') && read(url, one), plan.includes('burn') && burn(url, one)])
    }
  }
  await Promise.allSettled(Array.from({ length: 6 }, (_, number) => client(number)))
}

async function read(url: string, one: SharedSecret): Promise<void> {
  const response = await post(url, `secret/${one.shown.secret_key}`)
  if (response.status !== 200) return assert.is(response.status, 404)
  assert.is(shownIn(response).value, one.value)
  one.values++
}

async function burn(url: string, one: SharedSecret): Promise<void> {
  const response = await post(url, `private/${one.shown.metadata_key}/burn`)
  if (response.status === 200) one.burned = true
  else assert.is(response.status, 404)
}

/** Asserts after a restart that burns are kept, no secret is read twice, and no unread secret is lost. */
async function check({ url }: ServerProcess, one: SharedSecret): Promise<void> {
  await read(url, one)
  await read(url, one)
  assert.ok(one.values <= 1, `${one.value} (${one.plan}) was read ${one.values} times`)
  assert.not.ok(one.burned && one.values > 0, `${one.value} was read, and acknowledged as burned`)
  if (!one.tried) assert.is(one.values, 1, `${one.value} (${one.plan}) was lost`)
}

/** The service process (generation) that sent each copy of a mail: a second copy is allowed only after a kill. */
function countCopies({ accepted }: Postbox, generations: readonly number[]): Map<string, number[]> {
  const copies = new Map<string, number[]>()
  for (const [index, { messageId }] of accepted.entries()) {
    const from = copies.get(messageId ?? '') ?? []
    copies.set(messageId ?? '', [...from, generations[index] ?? -1])
  }
  return copies
}

test('reveals no secret twice, loses none, keeps burns, and sends each mail', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'adamant-killed-'))
  const ann = await senderIn(dataDir)
  const postbox = await openPostbox()
  const generations: number[] = []
  let generation = 0
  postbox.refuse.message = () => void generations.push(generation)
  const settings = { MAILER: postbox.address, LOG_LEVEL: 'error' }
  const mailed: SharedSecret[] = []
  const random = randomFor('secrets-killed')
  let checked = 0
  for (let round = 0; round < ROUNDS; round++) {
    const sharedSecrets: SharedSecret[] = []
    const server = await startServer(dataDir, settings)
    const using = useUntilKilled(server, ann, sharedSecrets, round)
    const killedAfter = 5 + random.below(60)
    await until('some secrets', () => sharedSecrets.length >= killedAfter)
    await server.kill()
    await using
    generation++
    const restarted = await startServer(dataDir, settings)
    mailed.push(...sharedSecrets.filter(({ plan }) => plan === 'mail'))
    for (const one of sharedSecrets) if (one.plan !== 'mail') await check(restarted, one)
    checked += sharedSecrets.length
    // Half of the rounds kill it again while mails may be in progress.
    if (round % 2 === 0) await restarted.kill()
    else assert.is(await restarted.stop(), 0)
    generation++
  }
  const last = await startServer(dataDir, settings)
  const copies = () => countCopies(postbox, generations)
  await until('all mails', () => copies().size >= mailed.length)
  for (const from of copies().values()) assert.is(new Set(from).size, from.length, 'two copies from one process')
  for (const one of mailed) await check(last, one)
  assert.is(await last.stop(), 0)
  const twice = [...copies().values()].filter((from) => from.length > 1).length
  console.log(`NOTE: ${ROUNDS} kills, ${checked} secrets, ${copies().size} mails, ${twice} of them twice`)
  await postbox.close()
  rmSync(dataDir, { recursive: true, force: true })
})

test.run()
