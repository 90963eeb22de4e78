import * as assert from 'uvu/assert'
import type { Vendor } from '../../api/harness/account.ts'
import { request, type ApiResponse, type Request } from '../../api/harness/request.ts'
import { form, newSender, type Sender } from '../../api/harness/secrets.ts'
import { shown, stone } from '../../api/harness/stones.ts'
import { rounds } from '../../rounds.ts'
import { pace } from '../../pace.ts'
import { until } from '../../until.ts'
import { everyDiamond, withInstallation } from '../serving.ts'
import type { Person } from './clients/client.ts'
import { newPerson } from './person.ts'

/** The client addresses, as a proxy forwards them: of the flood, and of another client. */
const FLOOD_ADDRESS = { 'X-Forwarded-For': '192.0.2.1' }
const OTHER_ADDRESS = { 'X-Forwarded-For': '198.51.100.1' }

type Given = { readonly url: string; readonly ann: Vendor; readonly sender: Sender; readonly person: Person }

/** Many more concurrent requests than the service accepts. */
type Flood = {
  readonly description: string
  /** Number of concurrent clients, each of which repeats its request during the flood. */
  readonly clients: number
  /** @param rejection resolves when a request of the flood was rejected */
  readonly send: (given: Given, number: number, rejection: Promise<void>) => Promise<ApiResponse>
  /** Allowed statuses. */
  readonly statuses: readonly number[]
  /** The status by which excess requests are rejected; the flood lasts until it occurs. */
  readonly rejectedWith?: number
}

const withAddress = (address: Readonly<Record<string, string>>, { headers, ...rest }: Request): Request => ({
  ...rest,
  headers: { ...headers, ...address },
})

const logIn = ({ url, person }: Given, address = FLOOD_ADDRESS) =>
  request(
    url,
    withAddress(
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

const share = ({ url, sender }: Given, address = FLOOD_ADDRESS) =>
  request(url, withAddress(address, form('/api/v1/share', 'secret=x&passphrase=open+sesame', sender.authorization)))

const create = ({ ann }: Given, sku: string, address = FLOOD_ADDRESS) =>
  ann.post('/v4/diamond', stone({ sku }), address)

/** Makes a body longer than the longest bulk of 500 stones. */
const PADDING = ' '.repeat(1_000_000)

/** The bodies end when the first one was rejected, so that they are in memory together on a fast machine too. */
const longBody = ({ ann }: Given, number: number, rejection: Promise<void>) =>
  ann.send({
    method: 'POST',
    path: '/v4/diamond/bulk',
    headers: { 'Content-Type': 'application/json', ...FLOOD_ADDRESS },
    body: [Buffer.from(`{"entries": [${PADDING}${JSON.stringify(stone({ sku: `long ${number}` }))}]}`)],
    endsAfter: rejection,
  })

export const FLOODS: Readonly<Record<string, Flood>> = {
  'log-ins': {
    description: 'each takes a core 70 ms, and at most 64 wait',
    clients: 200,
    send: (given) => logIn(given),
    statuses: [200, 429],
    rejectedWith: 429,
  },
  passphrases: {
    description: 'each takes a core 80 ms, and at most 32 wait',
    clients: 150,
    send: (given) => share(given),
    statuses: [200, 429],
    rejectedWith: 429,
  },
  'long bodies': {
    description: 'at most 64 MiB are in memory, half of it for one address',
    clients: 120,
    send: longBody,
    statuses: [201, 503],
    rejectedWith: 503,
  },
  creates: {
    description: 'they are committed in groups, and their queue is limited',
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
  const otherCreates = { count: 0 }
  const otherClient = createFromOtherAddress(given, name, flooding, otherCreates)
  const rejection = Promise.withResolvers<void>()
  const send = (number: number) => flood.send(given, number, rejection.promise)
  const clients = sendFlood(flood.clients, send, flooding, ({ status, text }) => {
    assert.ok(flood.statuses.includes(status), `${name}: ${status} ${text}`)
    statuses[status] = (statuses[status] ?? 0) + 1
    if (status === flood.rejectedWith) rejection.resolve()
  })
  const isComplete = () =>
    otherCreates.count >= MIN_OTHER_CREATES &&
    (flood.rejectedWith === undefined || (statuses[flood.rejectedWith] ?? 0) > 0)
  // The flood lasts until another address was served and excess requests were rejected, or until a client fails.
  const floodEnd = until(`others to be served during ${name}, and rejections`, isComplete)
    .catch((error: Error) => {
      throw new Error(`${error.message}: ${JSON.stringify({ statuses, elsewhere: otherCreates.count })}`)
    })
    .finally(() => (flooding.isOn = false))
  await Promise.all([floodEnd, clients, otherClient])
  // The flooding address is served immediately after the flood.
  for (const response of [await create(given, `after ${name}`), await logIn(given), await share(given)]) {
    assert.ok(response.status < 300, `after ${name}: ${response.status} ${response.text}`)
  }
  const { total, diamonds } = await everyDiamond(given.ann, 'v4')
  assert.is(total, before + (statuses['201'] ?? 0) + otherCreates.count + 1, `stones after ${name}`)
  assert.is(new Set(diamonds.map(({ id }) => id)).size, total)
  const requests = Object.values(statuses).reduce((sum, count) => sum + count, 0)
  return { requests, statuses, elsewhere: otherCreates.count }
}

/** Each client sends at least one request, and repeats it during the flood. */
async function sendFlood(
  clients: number,
  send: (number: number) => Promise<ApiResponse>,
  flooding: { readonly isOn: boolean },
  onResponse: (response: ApiResponse) => void,
): Promise<void> {
  let number = 0
  const client = async () => {
    do {
      const response = await send(number++)
      onResponse(response)
      if (response.status >= 400) await pace(PAUSE_MS)
    } while (flooding.isOn)
  }
  await Promise.all(Array.from({ length: clients }, client))
}

/** Milliseconds between two creates of the other address, and after a rejection. */
const PAUSE_MS = 20
/** Creates from the other address that must succeed during a flood. */
const MIN_OTHER_CREATES = 5

/** A client with another address, which must be served during a flood. */
async function createFromOtherAddress(
  given: Given,
  name: string,
  flooding: { readonly isOn: boolean },
  otherCreates: { count: number },
): Promise<void> {
  while (flooding.isOn) {
    const response = await create(given, `elsewhere ${name} ${otherCreates.count}`, OTHER_ADDRESS)
    assert.is(response.status, 201, `${name} blocked another address: ${response.status} ${response.text}`)
    assert.ok(shown(response).id > 0)
    otherCreates.count++
    await pace(PAUSE_MS)
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
