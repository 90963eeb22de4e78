import * as assert from 'uvu/assert'
import type { Vendor } from '../../api/harness/account.ts'
import { request, type Answer, type Request } from '../../api/harness/request.ts'
import { form, newSender, type Sender } from '../../api/harness/secrets.ts'
import { shown, stone } from '../../api/harness/stones.ts'
import { rounds } from '../../rounds.ts'
import { pace } from '../../pace.ts'
import { until } from '../../until.ts'
import { everyDiamond, withInstallation } from '../serving.ts'
import type { Person } from './clients/client.ts'
import { newPerson } from './person.ts'

/** The client addresses, as a proxy forwards them: of the flood, and of another client. */
const FLOOD = { 'X-Forwarded-For': '192.0.2.1' }
const ELSEWHERE = { 'X-Forwarded-For': '198.51.100.1' }

type Given = { readonly url: string; readonly ann: Vendor; readonly sender: Sender; readonly person: Person }

/** Many more concurrent requests than the service accepts. */
type Flood = {
  readonly about: string
  /** Number of concurrent clients, each of which repeats its request during the flood. */
  readonly clients: number
  readonly send: (given: Given, number: number) => Promise<Answer>
  /** Allowed statuses. */
  readonly statuses: readonly number[]
  /** The status by which excess requests are rejected; the flood lasts until it occurs. */
  readonly rejectedWith?: number
}

const from = (address: Readonly<Record<string, string>>, { headers, ...rest }: Request): Request => ({
  ...rest,
  headers: { ...headers, ...address },
})

const logIn = ({ url, person }: Given, address = FLOOD) =>
  request(
    url,
    from(
      address,
      form(
        '/api/oauth/v2/token',
        new URLSearchParams({
          grant_type: 'password',
          username: person.email,
          password: person.password,
          client_id: person.client,
          client_secret: person.clientSecret,
        }).toString(),
      ),
    ),
  )

const share = ({ url, sender }: Given, address = FLOOD) =>
  request(url, from(address, form('/api/v1/share', 'secret=x&passphrase=open+sesame', sender.authorization)))

const create = ({ ann }: Given, sku: string, address = FLOOD) => ann.post('/v4/diamond', stone({ sku }), address)

/** Makes a body longer than the longest bulk of 500 stones. */
const PADDING = ' '.repeat(1_000_000)

const longBody = ({ ann }: Given, number: number) =>
  ann.send({
    method: 'POST',
    path: '/v4/diamond/bulk',
    headers: { 'Content-Type': 'application/json', ...FLOOD },
    body: `{"entries": [${PADDING}${JSON.stringify(stone({ sku: `long ${number}` }))}]}`,
  })

export const FLOODS: Readonly<Record<string, Flood>> = {
  'log-ins': {
    about: 'each takes a core 70 ms, and at most 64 wait',
    clients: 200,
    send: (given) => logIn(given),
    statuses: [200, 429],
    rejectedWith: 429,
  },
  passphrases: {
    about: 'each takes a core 80 ms, and at most 32 wait',
    clients: 150,
    send: (given) => share(given),
    statuses: [200, 429],
    rejectedWith: 429,
  },
  'long bodies': {
    about: 'at most 64 MiB are in memory, half of it for one address',
    clients: 120,
    send: longBody,
    statuses: [201, 503],
    rejectedWith: 503,
  },
  creates: {
    about: 'they are committed in groups, and their queue is limited',
    clients: rounds(600, 2_000),
    send: (given, number) => create(given, `flood ${number}`),
    statuses: [201, 429, 503],
  },
}

export type OverloadFigures = {
  readonly [flood: string]: {
    readonly requests: number
    readonly statuses: Readonly<{ [status: string]: number }>
    /** Number of creates from another address during the flood. */
    readonly elsewhere: number
  }
}

/**
 * Floods a service with each kind of request from one address. Asserts that excess requests are rejected with Retry-After, that
 * another address is served meanwhile and the flooding one afterwards, and that all acknowledged stones exist.
 */
export async function overload(floods: Readonly<Record<string, Flood>> = FLOODS): Promise<OverloadFigures> {
  const figures: Record<string, OverloadFigures[string]> = {}
  let accounts: { person: Person; sender: Sender } | undefined
  await withInstallation(
    async ({ serve }) => {
      if (accounts === undefined) throw new Error('the accounts were not created')
      const service = await serve()
      const given = { url: service.url, ann: service.ann, ...accounts }
      for (const [name, flood] of Object.entries(floods)) figures[name] = await floodWith(name, flood, given)
      assert.is(await service.stop(), 0)
    },
    { TRUST_PROXY: '1', MAILS_PER_ACCOUNT: '0' },
    {
      prepare: async ({ installation }) =>
        void (accounts = { person: await newPerson(installation), sender: await newSender(installation, 'pro') }),
    },
  )
  return figures
}

async function floodWith(name: string, flood: Flood, given: Given): Promise<OverloadFigures[string]> {
  const before = (await everyDiamond(given.ann, 'v4')).total
  const flooding = { isOn: true }
  const statuses: Record<string, number> = {}
  const elsewhere = { count: 0 }
  const others = createFromElsewhere(given, name, flooding, elsewhere)
  const clients = sendFlood(flood, given, flooding, ({ status, text }) => {
    assert.ok(flood.statuses.includes(status), `${name}: ${status} ${text}`)
    statuses[status] = (statuses[status] ?? 0) + 1
  })
  const isComplete = () =>
    elsewhere.count >= OTHERS && (flood.rejectedWith === undefined || (statuses[flood.rejectedWith] ?? 0) > 0)
  // The flood lasts until another address was served and excess requests were rejected, or until a client fails.
  const over = until(`others to be served during ${name}, and rejections`, isComplete).finally(
    () => (flooding.isOn = false),
  )
  await Promise.all([over, clients, others])
  // The flooding address is served immediately after the flood.
  for (const answer of [await create(given, `after ${name}`), await logIn(given), await share(given)]) {
    assert.ok(answer.status < 300, `after ${name}: ${answer.status} ${answer.text}`)
  }
  const { total, diamonds } = await everyDiamond(given.ann, 'v4')
  assert.is(total, before + (statuses['201'] ?? 0) + elsewhere.count + 1, `stones after ${name}`)
  assert.is(new Set(diamonds.map(({ id }) => id)).size, total)
  const requests = Object.values(statuses).reduce((sum, count) => sum + count, 0)
  return { requests, statuses, elsewhere: elsewhere.count }
}

/** Each client sends at least one request, and repeats it during the flood. */
async function sendFlood(
  flood: Flood,
  given: Given,
  flooding: { readonly isOn: boolean },
  onAnswer: (answer: Answer) => void,
): Promise<void> {
  let number = 0
  const client = async () => {
    do {
      const answer = await flood.send(given, number++)
      onAnswer(answer)
      if (answer.status >= 400) await pace(PAUSE)
    } while (flooding.isOn)
  }
  await Promise.all(Array.from({ length: flood.clients }, client))
}

/** Milliseconds between two creates of the other address, and after a rejection. */
const PAUSE = 20
/** Creates from the other address that must succeed during a flood. */
const OTHERS = 5

/** A client with another address, which must be served during a flood. */
async function createFromElsewhere(
  given: Given,
  name: string,
  flooding: { readonly isOn: boolean },
  elsewhere: { count: number },
): Promise<void> {
  while (flooding.isOn) {
    const answer = await create(given, `elsewhere ${name} ${elsewhere.count}`, ELSEWHERE)
    assert.is(answer.status, 201, `${name} blocked another address: ${answer.status} ${answer.text}`)
    assert.ok(shown(answer).id > 0)
    elsewhere.count++
    await pace(PAUSE)
  }
}

/** A line for each flood. */
export const overloadLines = (figures: OverloadFigures): string =>
  Object.entries(figures)
    .map(([name, { requests, statuses, elsewhere }]) => {
      const counts = Object.entries(statuses).map(([status, count]) => `${count} with ${status}`)
      return `${name}: ${requests} requests: ${counts.join(', ')}; ${elsewhere} creates from elsewhere`
    })
    .join('\n')
