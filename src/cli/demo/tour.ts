import { Failed } from '../failure.ts'
import type { ApiAnswer, ApiClient } from './api.ts'
import type { Created } from './create.ts'
import { skuOf } from './stones.ts'

/** One list that was asked for, and what came. */
export type Visit = {
  readonly what: string
  readonly path: string
  readonly status: number
  readonly total: number
  readonly milliseconds: number
}

/**
 * Lists and filters what was created, through both versions of the API, and checks every total.
 * @throws Failed when an answer is not what was created
 */
export async function tour(api: ApiClient, { stones, from, to }: Created): Promise<Visit[]> {
  const visits: Visit[] = []

  async function visit(what: string, path: string, total: number | undefined): Promise<ApiAnswer> {
    const answer = await api.get(path)
    if (total !== undefined && answer.total !== total) {
      throw new Failed(`GET ${path} (${what}) counts ${answer.total} stones where ${total} were created`)
    }
    visits.push({ what, path, status: answer.status, total: answer.total, milliseconds: answer.milliseconds })
    return answer
  }

  for (const version of ['v4', 'v3']) {
    const list = `/${version}/diamond`
    const first = await visit('the first page', list, stones)
    if (first.links['next'] !== undefined) await visit('its next page, by Link', pathOf(first.links['next']), stones)
    if (first.links['last'] !== undefined) await visit('the last page, by Link', pathOf(first.links['last']), stones)
    await visit('one sku', `${list}?f[sku][]=${skuOf(stones)}`, 1)
    await visit('colourless', `${list}?f[isColored]=0`, stones)
    await visit('fancy coloured: none, 204', `${list}?f[isColored]=1`, 0)
    await visit('all dates of the demo', `${list}?f[dateFrom]=${compact(from)}&f[dateTo]=${compact(to)}`, stones)
    await visit('the first half of the time', `${list}?f[dateTo]=${compact((from + to) / 2)}`, undefined)
  }
  await visit('published', '/v3/diamond?f[isPublished]=1', 0)
  return visits
}

const pathOf = (link: string) => link.slice(new URL(link).origin.length)

/** `20141127T211100+0000`, percent-encoded. */
const compact = (time: number) => new Date(time).toISOString().slice(0, 19).replaceAll(/[-:]/g, '') + '%2B0000'
