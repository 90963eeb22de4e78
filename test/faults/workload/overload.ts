import * as assert from 'uvu/assert'
import { percentile } from '../../../bench/load/watch.ts'
import type { Vendor } from '../../api/harness/account.ts'
import { request, type Answer, type Request } from '../../api/harness/request.ts'
import { form, newSender, type Sender } from '../../api/harness/secrets.ts'
import { shown, stone } from '../../api/harness/stones.ts'
import { rounds } from '../../rounds.ts'
import { pause } from '../../until.ts'
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
  readonly requests: number
  readonly ask: (given: Given, number: number) => Promise<Answer>
  /** What whoever floods may be told; and by which of them it must have been shed. */
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
const PADDING = ' '.repeat(1024 ** 2)

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
    requests: 200,
    ask: (given) => logIn(given),
    answers: [200, 429],
    shed: 429,
  },
  passphrases: {
    about: 'each costs a core 80 ms, and 32 wait at most',
    requests: 150,
    ask: (given) => share(given),
    answers: [200, 429],
    shed: 429,
  },
  'long bodies': {
    about: '64 MiB are in memory at most, half of it for one address',
    requests: 120,
    ask: longBody,
    answers: [201, 503],
    shed: 503,
  },
  creates: {
    about: 'they are written together, and wait no longer than their number takes',
    requests: rounds(600, 2_000),
    ask: (given, number) => create(given, `flood ${number}`),
    answers: [201, 429, 503],
  },
}

export type OverloadFigures = {
  readonly [flood: string]: {
    readonly requests: number
    readonly statuses: Readonly<{ [status: string]: number }>
    readonly seconds: number
    /** Milliseconds of creates that came from elsewhere meanwhile. */
    readonly elsewhere: { readonly count: number; readonly median: number; readonly longest: number }
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
  const began = performance.now()
  const under = { way: true }
  const others = comeFromElsewhere(given, name, under)
  // It is told below, unless the flood itself has failed before.
  others.catch(() => undefined)
  const answers = await Promise.all(Array.from({ length: flood.requests }, (_, number) => flood.ask(given, number)))
  const seconds = (performance.now() - began) / 1000
  // At once, and where the flood came from: nothing is held against anybody.
  for (const answer of [await create(given, `after ${name}`), await logIn(given), await share(given)]) {
    assert.ok(answer.status < 300, `after ${name}: ${answer.status} ${answer.text}`)
  }
  under.way = false
  const taken = await others
  const statuses: Record<string, number> = {}
  for (const { status } of answers) statuses[status] = (statuses[status] ?? 0) + 1
  const unexpected = answers.find(({ status }) => !flood.answers.includes(status))
  assert.is(unexpected, undefined, `${name}: ${unexpected?.status} ${unexpected?.text}`)
  if (flood.shed !== undefined) assert.ok((statuses[flood.shed] ?? 0) > 0, `nothing was shed of ${name}`)
  const { total, diamonds } = await everyDiamond(given.ann, 'v4')
  assert.is(total, before + (statuses['201'] ?? 0) + taken.length + 1, `stones after ${name}`)
  assert.is(new Set(diamonds.map(({ id }) => id)).size, total)
  const elsewhere = { count: taken.length, median: percentile(taken, 0.5), longest: percentile(taken, 1) }
  return { requests: flood.requests, statuses, seconds, elsewhere }
}

/** Milliseconds between two creates of somebody else. */
const PAUSE = 20

/** Somebody from another address, whom a flood must not keep out. @returns the milliseconds that each create took */
async function comeFromElsewhere(given: Given, name: string, under: { way: boolean }): Promise<number[]> {
  const taken: number[] = []
  while (under.way) {
    const began = performance.now()
    const answer = await create(given, `elsewhere ${name} ${taken.length}`, ELSEWHERE)
    assert.is(answer.status, 201, `${name} kept others out: ${answer.status} ${answer.text}`)
    assert.ok(shown(answer).id > 0)
    taken.push(performance.now() - began)
    await pause(PAUSE)
  }
  return taken
}

/** A line for each flood. */
export const toldOverload = (figures: OverloadFigures): string =>
  Object.entries(figures)
    .map(([name, { requests, statuses, seconds, elsewhere }]) => {
      const counts = Object.entries(statuses).map(([status, count]) => `${count} of ${status}`)
      const others = `${elsewhere.count} creates from elsewhere, median ${elsewhere.median.toFixed(0)} ms, longest ${elsewhere.longest.toFixed(0)} ms`
      return `${name}: ${requests} at once in ${seconds.toFixed(1)} s: ${counts.join(', ')}; ${others}`
    })
    .join('\n')
