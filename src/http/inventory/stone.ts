import { readPast } from '../../projections/history/diamond.ts'
import { Refusal } from '../../domain/decider.ts'
import { DIAMOND_ID } from '../diamonds/resource.ts'
import { seeOther } from '../kit/answer.ts'
import { endpoint } from '../kit/endpoint.ts'
import { html, upFrom } from '../kit/html.ts'
import { pageAnswer } from '../report/layout.ts'
import { ownersReport } from '../report/owners-page.ts'
import type { ReportServices } from '../report/report.ts'
import { inventoryFamily } from './layout.ts'
import { visitor } from './session.ts'

export const showOwnStone = endpoint({
  name: 'showOwnStone',
  method: 'GET',
  path: '/inventory/{id}',
  about: "One of the account's stones in the browser: its report, with a timeline of what happened to it.",
  who: visitor,
  parameters: { id: DIAMOND_ID },
  answers: {
    200: { about: 'The page', media: 'text/html' },
    303: { about: 'Nobody is logged in in this browser', headers: { Location: 'The log-in' } },
    404: 'The account has no such stone',
  },
  family: inventoryFamily,
  async run({ asker, params, target }, { report }: ReportServices) {
    const up = `${upFrom(target)}../`
    if (asker === undefined) return seeOther(`${up}inventory`, { 'Cache-Control': 'no-store' })
    const id = /^[1-9]\d{0,15}$/.test(params.id) ? Number(params.id) : 0
    const { last, isLive, steps } = await readPast(report.store, id)
    // Of others' stones nothing is told, not that they are there either.
    if (!isLive || last?.diamond.owner !== asker.account) throw new Refusal('missing', 'You have no such stone')
    const page = await ownersReport(last, steps, report, `${up}diamond/`)
    const back = html`<p><a href="${up}inventory">Your inventory</a></p>`
    return pageAnswer({ ...page, content: html`${back} ${page.content}` })
  },
})
