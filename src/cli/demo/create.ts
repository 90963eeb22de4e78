import { progressBar } from '../progress-bar.ts'
import type { ApiClient } from './api.ts'
import { bulksOfStones } from './stones.ts'

/** As many as one bulk request takes. */
const BULK = 500
/** Requests on the way at once: one is prepared and read while the service works on the other. */
const AT_ONCE = 2

export type Created = {
  readonly stones: number
  readonly seconds: number
  /** Address of the report page of a public stone. */
  readonly report: string
  /** When the first and the last request were sent, milliseconds since 1970. */
  readonly from: number
  readonly to: number
}

/** Creates the first `wanted` stones of the data set over HTTP. @throws Failed when the service refuses one */
export async function createStones(api: ApiClient, wanted: number): Promise<Created> {
  const bar = progressBar('creating', wanted, 'stones')
  const bulks = bulksOfStones(wanted, BULK)
  const from = Date.now()
  const started = performance.now()
  let stones = 0
  let report = ''

  async function send(): Promise<void> {
    for (let next = await bulks.next(); next.done !== true; next = await bulks.next()) {
      const { body } = await api.post('/v4/diamond/bulk', { entries: next.value })
      stones += next.value.length
      report ||= publicReport(body)
      bar.update(stones)
    }
  }

  await Promise.all(Array.from({ length: AT_ONCE }, send))
  bar.end()
  return { stones, seconds: (performance.now() - started) / 1000, report, from, to: Date.now() }
}

type AnsweredStone = { readonly access: number; readonly _links: readonly { readonly href: string }[] }

const publicReport = (body: unknown) =>
  (body as readonly AnsweredStone[]).find((stone) => stone.access === 2)?._links[0]?.href ?? ''
