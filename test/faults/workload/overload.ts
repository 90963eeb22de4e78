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

/** Where a flood comes from, and who comes meanwhile from elsewhere, as a proxy tells it. */
const FLOOD = { 'X-Forwarded-For': '192.0.2.1' }
const ELSEWHERE = { 'X-Forwarded-For': '198.51.100.1' }

type Given = { readonly url: string; readonly ann: Vendor; readonly sender: Sender; readonly person: Person }

/** Much more than the service takes at a time, all at once. */
type Flood = {
  readonly about: string
  /** Clients that ask at once, each again and again while it lasts. */
  readonly clients: number
  readonly ask: (given: Given, number: number) => Promise<Answer>
  /** What whoever floods may be told; and by which of them something of it is shed before it ends. */
  readonly answers: readonly number[]
  readonly shed?: number
}

const from = (place: Readonly<Record<string, string>>, { headers, ...wanted }: Request): Request => ({
  ...wanted,
  headers: { ...headers, ...place },
})

const logIn = ({ url, person }: Given, place = FLOOD) =>
  request(
    url,
    from(
      place,
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

const share = ({ url, sender }: Given, place = FLOOD) =>
  request(url, from(place, form('/api/v1/share', 'secret=x&passphrase=open+sesame', sender.authorization)))

const create = ({ ann }: Given, sku: string, place = FLOOD) => ann.post('/v4/diamond', stone({ sku }), place)

/** As long as a bulk of 500 stones with everything that a stone may have, and more. */
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
    about: 'each costs a core 70 ms, and 64 wait at most',
    clients: 200,
    ask: (given) => logIn(given),
    answers: [200, 429],
    shed: 429,
  },
  passphrases: {
    about: 'each costs a core 80 ms, and 32 wait at most',
    clients: 150,
    ask: (given) => share(given),
    answers: [200, 429],
    shed: 429,
  },
  'long bodies': {
    about: '64 MiB are in memory at most, half of it for one address',
    clients: 120,
    ask: longBody,
    answers: [201, 503],
    shed: 503,
  },
  creates: {
    about: 'they are written together, and wait no longer than their number takes',
    clients: rounds(600, 2_000),
    ask: (given, number) => create(given, `flood ${number}`),
    answers: [201, 429, 503],
  },
}

export type OverloadFigures = {
  readonly [flood: string]: {
    readonly requests: number
    readonly statuses: Readonly<{ [status: string]: number }>
    /** Creates that came from elsewhere meanwhile. */
    readonly elsewhere: number
  }
}

/**
 * Floods a service with one thing after another from one address. What it can't take it refuses with the time to come again;
 * it serves others meanwhile, and whoever flooded as soon as that is over. Every stone that was acknowledged is there.
 */
export async function overload(floods: Readonly<Record<string, Flood>> = FLOODS): Promise<OverloadFigures> {
  const figures: Record<string, OverloadFigures[string]> = {}
  let who: { person: Person; sender: Sender } | undefined
  await withInstallation(
    async ({ serve }) => {
      if (who === undefined) throw new Error('nobody has an account')
      const service = await serve()
      const given = { url: service.url, ann: service.ann, ...who }
      for (const [name, flood] of Object.entries(floods)) figures[name] = await floodWith(name, flood, given)
      assert.is(await service.stop(), 0)
    },
    { TRUST_PROXY: '1', MAILS_PER_ACCOUNT: '0' },
    {
      prepare: async ({ installation }) =>
        void (who = { person: await newPerson(installation), sender: await newSender(installation, 'pro') }),
    },
  )
  return figures
}

async function floodWith(name: string, flood: Flood, given: Given): Promise<OverloadFigures[string]> {
  const before = (await everyDiamond(given.ann, 'v4')).total
  const under = { way: true }
  const statuses: Record<string, number> = {}
  const elsewhere = { count: 0 }
  const others = comeFromElsewhere(given, name, under, elsewhere)
  const clients = floodOn(flood, given, under, ({ status, text }) => {
    assert.ok(flood.answers.includes(status), `${name}: ${status} ${text}`)
    statuses[status] = (statuses[status] ?? 0) + 1
  })
  const isMet = () => elsewhere.count >= OTHERS && (flood.shed === undefined || (statuses[flood.shed] ?? 0) > 0)
  // A client that fails ends it; the flood is held until others were served beside it, and something of it was shed.
  const over = until(`others beside ${name}, and what is shed of them`, isMet).finally(() => (under.way = false))
  await Promise.all([over, clients, others])
  // At once, and where the flood came from: nothing is held against anybody.
  for (const answer of [await create(given, `after ${name}`), await logIn(given), await share(given)]) {
    assert.ok(answer.status < 300, `after ${name}: ${answer.status} ${answer.text}`)
  }
  const { total, diamonds } = await everyDiamond(given.ann, 'v4')
  assert.is(total, before + (statuses['201'] ?? 0) + elsewhere.count + 1, `stones after ${name}`)
  assert.is(new Set(diamonds.map(({ id }) => id)).size, total)
  const requests = Object.values(statuses).reduce((sum, count) => sum + count, 0)
  return { requests, statuses, elsewhere: elsewhere.count }
}

/** All clients at once, and each of them again while it is under way. */
async function floodOn(
  flood: Flood,
  given: Given,
  under: { readonly way: boolean },
  told: (answer: Answer) => void,
): Promise<void> {
  let number = 0
  const client = async () => {
    do {
      const answer = await flood.ask(given, number++)
      told(answer)
      if (answer.status >= 400) await pace(PAUSE)
    } while (under.way)
  }
  await Promise.all(Array.from({ length: flood.clients }, client))
}

/** Milliseconds between two creates of somebody else, and behind a refusal. */
const PAUSE = 20
/** Creates from elsewhere that are answered while a flood lasts. */
const OTHERS = 5

/** Somebody from another address, whom a flood must not keep out. */
async function comeFromElsewhere(
  given: Given,
  name: string,
  under: { readonly way: boolean },
  elsewhere: { count: number },
): Promise<void> {
  while (under.way) {
    const answer = await create(given, `elsewhere ${name} ${elsewhere.count}`, ELSEWHERE)
    assert.is(answer.status, 201, `${name} kept others out: ${answer.status} ${answer.text}`)
    assert.ok(shown(answer).id > 0)
    elsewhere.count++
    await pace(PAUSE)
  }
}

/** A line for each flood. */
export const toldOverload = (figures: OverloadFigures): string =>
  Object.entries(figures)
    .map(([name, { requests, statuses, elsewhere }]) => {
      const counts = Object.entries(statuses).map(([status, count]) => `${count} of ${status}`)
      return `${name}: ${requests} requests: ${counts.join(', ')}; ${elsewhere} creates from elsewhere`
    })
    .join('\n')
