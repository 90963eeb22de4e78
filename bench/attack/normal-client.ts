import { setTimeout as pause } from 'node:timers/promises'
import type { Adamant } from '../services/adamant.ts'
import { stones } from '../stones.ts'

/** Milliseconds from a response to the next request, and between two rounds of slow operations. */
const PAUSE = 10
const SELDOM = 5_000

/** `taken`: milliseconds of each timed request. `seldom`: number of rounds of slow operations. */
export type Met = { readonly taken: number[]; readonly errors: string[]; seldom: number }

type Answer = { readonly status: number; readonly text: string }

/**
 * A typical client: lists, reads, creates and changes stones, and shares and reads secrets, sequentially. Every 5 s it
 * also logs in, shares with a passphrase and attaches a report; these are not timed.
 * @param until a time of performance.now()
 */
export async function beNormal(adamant: Adamant, until: number): Promise<Met> {
  const met: Met = { taken: [], errors: [], seldom: 0 }
  const asking = asker(adamant, met)
  const usual = usualOf(adamant, asking)
  await Promise.all([
    repeat(until, PAUSE, async (turn) => {
      const one = usual[turn % usual.length]
      if (one !== undefined) await one()
    }),
    repeat(until, SELDOM, () => seldomOf(adamant, asking, met)),
  ])
  return met
}

type Asking = (path: string, init: RequestInit, timed: boolean) => Promise<Answer>

function asker({ port }: Adamant, met: Met): Asking {
  return async (path, init, timed) => {
    const begun = performance.now()
    try {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, { ...init, signal: AbortSignal.timeout(30_000) })
      const text = await answer.text()
      if (timed) met.taken.push(performance.now() - begun)
      if (!answer.ok) met.errors.push(`${init.method ?? 'GET'} ${path}: ${answer.status} ${text.slice(0, 200)}`)
      return { status: answer.status, text }
    } catch (error) {
      const cause = error instanceof Error ? ((error.cause as Error | undefined)?.message ?? error.message) : 'unknown'
      met.errors.push(`${init.method ?? 'GET'} ${path}: ${cause}`)
      return { status: 0, text: '' }
    }
  }
}

function usualOf(adamant: Adamant, ask: Asking): (() => Promise<unknown>)[] {
  const headers = { Authorization: `Bearer ${adamant.token}`, 'Content-Type': 'application/json' }
  const [stone] = stones(1)
  let id = 0
  return [
    async () => {
      const { status, text } = await ask('/v4/diamond', { method: 'POST', headers, body: JSON.stringify(stone) }, true)
      if (status === 201) id = (JSON.parse(text) as { id: number }).id
    },
    () => ask(`/v4/diamond/${id}`, { headers }, true),
    () => ask('/v4/diamond?limit=25', { headers }, true),
    () => ask(`/v4/diamond/${id}`, { method: 'PATCH', headers, body: '{"price":7}' }, true),
    () => ask('/v2/constants', {}, true),
    () => shareAndRead(adamant, ask, '', true),
    () => ask('/health/ready', {}, true),
  ]
}

async function shareAndRead({ basic }: Adamant, ask: Asking, passphrase: string, timed: boolean): Promise<void> {
  const headers = { Authorization: basic, 'Content-Type': 'application/json' }
  const secret = passphrase === '' ? { secret: 'it' } : { secret: 'it', passphrase }
  const shared = await ask('/api/v1/share', { method: 'POST', headers, body: JSON.stringify(secret) }, timed)
  if (shared.status !== 200) return
  const { secret_key: key } = JSON.parse(shared.text) as { secret_key: string }
  const body = JSON.stringify(passphrase === '' ? {} : { passphrase })
  await ask(`/api/v1/secret/${key}`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body }, timed)
}

async function seldomOf(adamant: Adamant, ask: Asking, met: Met): Promise<void> {
  await shareAndRead(adamant, ask, 'sesame', false)
  await adamant.logIn().catch((error: unknown) => met.errors.push(`log-in: ${String(error)}`))
  await attach(adamant, ask)
  met.seldom++
}

async function attach({ token }: Adamant, ask: Asking): Promise<void> {
  const headers = { Authorization: `Bearer ${token}` }
  const list = await ask('/v4/diamond?limit=1', { headers }, false)
  if (list.status !== 200) return
  const [stone] = JSON.parse(list.text) as { id: number }[]
  const form = new FormData()
  form.set('product', String(stone?.id))
  form.set('laboratory', 'GIA')
  form.set('file', new Blob([`%PDF-1.7\n%${Math.random()}\n${'.'.repeat(200_000)}\n%%EOF\n`]), 'report.pdf')
  await ask('/v4/certification', { method: 'POST', headers, body: form }, false)
}

async function repeat(until: number, between: number, action: (turn: number) => Promise<void>): Promise<void> {
  for (let turn = 0; performance.now() < until; turn++) {
    await action(turn)
    await pause(between)
  }
}
