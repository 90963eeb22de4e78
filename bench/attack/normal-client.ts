import { setTimeout as pause } from 'node:timers/promises'
import type { Adamant } from '../services/adamant.ts'
import { stones } from '../stones.ts'

/** Milliseconds from a response to the next request, and between two rounds of slow operations. */
const PAUSE_MS = 10
const SLOW_ROUND_INTERVAL_MS = 5_000

/** `latenciesMs`: of each timed request. `slowRounds`: number of rounds of slow operations. */
export type ClientResult = { readonly latenciesMs: number[]; readonly errors: string[]; slowRounds: number }

type ClientResponse = { readonly status: number; readonly text: string }

/**
 * A typical client: lists, reads, creates and changes stones, and shares and reads secrets, sequentially. Every 5 s it
 * also logs in, shares with a passphrase and attaches a report; these are not timed.
 * @param deadline a time of performance.now()
 */
export async function runNormalClient(adamant: Adamant, deadline: number): Promise<ClientResult> {
  const result: ClientResult = { latenciesMs: [], errors: [], slowRounds: 0 }
  const send = createSender(adamant, result)
  const operations = fastOperations(adamant, send)
  await Promise.all([
    repeat(deadline, PAUSE_MS, async (round) => {
      const operation = operations[round % operations.length]
      if (operation !== undefined) await operation()
    }),
    repeat(deadline, SLOW_ROUND_INTERVAL_MS, () => runSlowOperations(adamant, send, result)),
  ])
  return result
}

type Send = (path: string, init: RequestInit, isTimed: boolean) => Promise<ClientResponse>

function createSender({ port }: Adamant, result: ClientResult): Send {
  return async (path, init, isTimed) => {
    const startedAt = performance.now()
    try {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { ...init, signal: AbortSignal.timeout(30_000) })
      const text = await response.text()
      if (isTimed) result.latenciesMs.push(performance.now() - startedAt)
      if (!response.ok) result.errors.push(`${init.method ?? 'GET'} ${path}: ${response.status} ${text.slice(0, 200)}`)
      return { status: response.status, text }
    } catch (error) {
      const cause = error instanceof Error ? ((error.cause as Error | undefined)?.message ?? error.message) : 'unknown'
      result.errors.push(`${init.method ?? 'GET'} ${path}: ${cause}`)
      return { status: 0, text: '' }
    }
  }
}

function fastOperations(adamant: Adamant, send: Send): (() => Promise<unknown>)[] {
  const headers = { Authorization: `Bearer ${adamant.token}`, 'Content-Type': 'application/json' }
  const [stone] = stones(1)
  let id = 0
  return [
    async () => {
      const { status, text } = await send('/v4/diamond', { method: 'POST', headers, body: JSON.stringify(stone) }, true)
      if (status === 201) id = (JSON.parse(text) as { id: number }).id
    },
    () => send(`/v4/diamond/${id}`, { headers }, true),
    () => send('/v4/diamond?limit=25', { headers }, true),
    () => send(`/v4/diamond/${id}`, { method: 'PATCH', headers, body: '{"price":7}' }, true),
    () => send('/v2/constants', {}, true),
    () => shareAndRead(adamant, send, '', true),
    () => send('/health/ready', {}, true),
  ]
}

async function shareAndRead({ basic }: Adamant, send: Send, passphrase: string, isTimed: boolean): Promise<void> {
  const headers = { Authorization: basic, 'Content-Type': 'application/json' }
  const secret = passphrase === '' ? { secret: 'it' } : { secret: 'it', passphrase }
  const shared = await send('/api/v1/share', { method: 'POST', headers, body: JSON.stringify(secret) }, isTimed)
  if (shared.status !== 200) return
  const { secret_key: key } = JSON.parse(shared.text) as { secret_key: string }
  const body = JSON.stringify(passphrase === '' ? {} : { passphrase })
  await send(
    `/api/v1/secret/${key}`,
    { method: 'POST', headers: { 'Content-Type': 'application/json' }, body },
    isTimed,
  )
}

async function runSlowOperations(adamant: Adamant, send: Send, result: ClientResult): Promise<void> {
  await shareAndRead(adamant, send, 'sesame', false)
  await adamant.logIn().catch((error: unknown) => result.errors.push(`log-in: ${String(error)}`))
  await attachReport(adamant, send)
  result.slowRounds++
}

async function attachReport({ token }: Adamant, send: Send): Promise<void> {
  const headers = { Authorization: `Bearer ${token}` }
  const list = await send('/v4/diamond?limit=1', { headers }, false)
  if (list.status !== 200) return
  const [stone] = JSON.parse(list.text) as { id: number }[]
  const form = new FormData()
  form.set('product', String(stone?.id))
  form.set('laboratory', 'GIA')
  form.set('file', new Blob([`%PDF-1.7\n%${Math.random()}\n${'.'.repeat(200_000)}\n%%EOF\n`]), 'report.pdf')
  await send('/v4/certification', { method: 'POST', headers, body: form }, false)
}

async function repeat(deadline: number, pauseMs: number, action: (round: number) => Promise<void>): Promise<void> {
  for (let round = 0; performance.now() < deadline; round++) {
    await action(round)
    await pause(pauseMs)
  }
}
